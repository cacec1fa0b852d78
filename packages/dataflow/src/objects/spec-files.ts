import { joinSecrets } from '@polder/engine/spec';
import type { GivenSpec } from '../kinds/index.ts';

/** The two files that a processor reads. */
export interface SpecFiles {
  /** `spec.json` */
  readonly spec: string;
  /** `secrets.json`: the values that belong into the spec, by where they belong. Undefined: there are none, or they are in the spec. */
  readonly secrets: string | undefined;
}

/** `secrets` has the values of all references, by where they belong. */
export function specFiles(spec: GivenSpec, secrets: ReadonlyMap<string, string>, isInline: boolean): SpecFiles {
  if (isInline) return { spec: canonical(joinSecrets(spec, secrets)), secrets: undefined };
  return { spec: canonical(spec), secrets: secrets.size === 0 ? undefined : canonical(Object.fromEntries(secrets)) };
}

/**
 * Fields of a spec that a processor does not read, or learns of by its pod alone. A change to them is no reason to start it
 * again: to scale a flow must not interrupt it.
 */
const NOT_READ: ReadonlySet<string> = new Set([
  'resources',
  'nodeSelector',
  'affinity',
  'tolerations',
  'replicas',
  'processorImage',
  'processorVersion',
  'imagePullSecrets',
  'checkpointReset',
  'strictIdempotency',
  'maintenance',
]);

/** What a processor works with. If it differs, the processor has to start again. */
export function readByProcessor(spec: GivenSpec, secrets: ReadonlyMap<string, string>): string {
  const read = Object.fromEntries(Object.entries(spec).filter(([field]) => !NOT_READ.has(field)));
  return canonical([read, Object.fromEntries(secrets)]);
}

/** With keys in order: the same object has the same text, whoever wrote it last. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
