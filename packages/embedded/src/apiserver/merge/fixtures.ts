import { readFileSync } from 'node:fs';
import type { JsonSchema } from '@polder/kube';
import { isObject, type Json, type JsonObject, Schema } from '../schema/schema.ts';
import type { TrackedKind } from './tracking.ts';

/** What the real server answered (v1.36.3), and the schemas that it answered by. Only tests read this. */

interface BuiltinSchemas {
  readonly kinds: Readonly<Record<string, string>>;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

export interface RecordedError {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: object;
}

export interface RecordedWrite {
  readonly title: string;
  readonly kind: string;
  readonly verb: 'create' | 'update' | 'merge' | 'json' | 'strategic' | 'apply';
  readonly by: string;
  readonly force?: boolean;
  readonly sub?: string;
  readonly body: JsonObject;
  /** What was there before, if that is not the answer to the step before; null if nothing was. */
  readonly live?: JsonObject | null;
  readonly answer?: JsonObject;
  readonly error?: RecordedError;
}

export interface RecordedPatch {
  readonly kind: string;
  readonly type: 'json' | 'merge' | 'strategic';
  readonly patch: JsonObject;
  readonly answer?: JsonObject;
  readonly error?: RecordedError;
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

const builtin: BuiltinSchemas = JSON.parse(read('./builtin-schemas.gen.json'));
const definitions = new Map(Object.entries(builtin.definitions));

interface RecordedWrites {
  readonly widget: JsonSchema;
  /** The entries of all `managedFields`, which the steps name by their place here: they are most of the bytes. */
  readonly entries: readonly JsonObject[];
  readonly steps: readonly RecordedWrite[];
}

const recorded: RecordedWrites = JSON.parse(read('./recorded-writes.gen.json'));

function withEntries<T extends JsonObject>(object: T): T {
  const { metadata } = object;
  if (!isObject(metadata) || !Array.isArray(metadata.managedFields)) return object;
  const managedFields = metadata.managedFields.map((place: Json) => {
    return typeof place === 'number' ? (recorded.entries[place] ?? null) : place;
  });
  return { ...object, metadata: { ...metadata, managedFields } };
}

export const recordedWrites: readonly RecordedWrite[] = recorded.steps.map((step) => ({
  ...step,
  body: withEntries(step.body),
  ...(step.live && { live: withEntries(step.live) }),
  ...(step.answer && { answer: withEntries(step.answer) }),
}));

export const patches: {
  readonly lives: Readonly<Record<string, JsonObject>>;
  readonly patches: readonly RecordedPatch[];
} = JSON.parse(read('./recorded-patches.gen.json'));

export function kindOf(kind: string): TrackedKind {
  if (kind === 'Widget') {
    const schema = new Schema(recorded.widget);
    return {
      group: 'merge.polder.test',
      version: 'v1',
      kind,
      schema,
      origin: 'custom',
      subresources: { status: true },
    };
  }
  const schema = new Schema({ $ref: builtin.kinds[kind] ?? '' }, definitions);
  const status = kind !== 'ConfigMap';
  return {
    group: kind === 'Deployment' ? 'apps' : '',
    version: 'v1',
    kind,
    schema,
    origin: 'builtin',
    subresources: { status },
  };
}
