import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '@polder/kube';
import { isObject, type Json, type JsonObject, Schema } from '../schema/schema.ts';
import { type StatusDetails, StatusError } from '../status.ts';
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
  readonly details?: StatusDetails;
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

interface Replay {
  readonly name: string;
  readonly step: RecordedWrite;
  readonly live: JsonObject | undefined;
}

/** The recorded writes, each with the object that it met. */
export const replays: readonly Replay[] = replay(recorded.steps);

function replay(steps: readonly RecordedWrite[]): readonly Replay[] {
  const lives = new Map<string, JsonObject | undefined>();
  return steps.map((step, index) => {
    const live = step.live === undefined ? lives.get(step.title) : (step.live ?? undefined);
    lives.set(step.title, step.answer ?? live);
    return {
      name: `${step.title}, step ${index}: ${step.verb} by ${step.by}${step.sub ? ` to /${step.sub}` : ''}`,
      live: live && withEntries(live),
      step: { ...step, body: withEntries(step.body), ...(step.answer && { answer: withEntries(step.answer) }) },
    };
  });
}

interface RecordedPatches {
  readonly lives: Readonly<Record<string, JsonObject>>;
  readonly patches: readonly RecordedPatch[];
}

const recordedPatches: RecordedPatches = JSON.parse(read('./recorded-patches.gen.json'));

export function patchesOf(type: RecordedPatch['type']) {
  return recordedPatches.patches
    .filter((recorded) => recorded.type === type)
    .map(({ kind, patch, answer, error }) => ({
      name: JSON.stringify(patch),
      live: recordedPatches.lives[kind] ?? {},
      kind,
      patch,
      answer,
      error,
    }));
}

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

export const managedFieldsOf = (object: JsonObject): readonly Json[] => {
  const { managedFields } = isObject(object.metadata) ? object.metadata : {};
  return Array.isArray(managedFields) ? managedFields : [];
};

/** The time of a write, by the real server's clock. */
export function timeOf(answer: JsonObject): number {
  const times = managedFieldsOf(answer).map((entry) => (isObject(entry) ? entry.time : undefined));
  return Math.max(0, ...times.filter((time) => typeof time === 'string').map((time) => Date.parse(time)));
}

/** Where `ours` differs from `theirs`. Defaults are filled in by others: what only `theirs` has is no difference. */
export function differences(ours: Json | undefined, theirs: Json | undefined, path = ''): readonly string[] {
  if (isObject(ours) && isObject(theirs)) {
    return Object.keys(ours).flatMap((name) => differences(ours[name], theirs[name], `${path}/${name}`));
  }
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.flatMap((item, index) => differences(item, theirs[index], `${path}/${index}`));
  }
  // Go leaves out what is empty.
  const isEmpty = ours === undefined || ours === null || (isObject(ours) && Object.keys(ours).length === 0);
  if (isDeepStrictEqual(ours, theirs) || (isEmpty && theirs === undefined)) return [];
  return [`${path}: ${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}`];
}

/** What a call was refused with, as the real server's answers are recorded. */
export function refusalOf(work: () => unknown): RecordedError {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return recordedForm(error);
    throw error;
  }
  throw new Error('was not refused');
}

export function recordedForm({ code, reason, message, details }: StatusError): RecordedError {
  return { code, ...(reason !== '' && { reason }), message, ...(details && { details: inAnyOrder(details) }) };
}

/** The real server names owners in causes in the order of a hash map. */
export function inAnyOrder(details: StatusDetails): StatusDetails {
  const causes = details.causes?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { ...details, ...(causes && { causes }) };
}
