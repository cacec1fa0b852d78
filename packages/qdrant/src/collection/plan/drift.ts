import { isObject, type Json, type JsonObject, objectAt } from '../../api/index.ts';
import type { CollectionSpec } from '../../kinds/index.ts';
import { completed, isUnnamed, merged, settingsIn, UNNAMED, vectorsIn } from './wanted.ts';

/** How a collection differs from what its spec says. What the spec does not say is the server's to fill in. */
export interface Drift {
  /** The difference as the server takes it; undefined if there is none. */
  readonly patch: JsonObject | undefined;
  /** Vectors with names that it does not have and can be given. What else the spec says of one is a patch, once it is there. */
  readonly missing: readonly MissingVector[];
  /** What can't be changed while the collection exists. */
  readonly immutable: readonly Difference[];
}

export interface MissingVector {
  readonly name: string;
  readonly kind: 'dense' | 'sparse';
  /** What it has for good, as the server takes it. */
  readonly config: JsonObject;
}

export interface Difference {
  readonly field: string;
  readonly there: Json;
  readonly wanted: Json;
}

/** In a patch these stand under `params`; at the top, where they are at creation, the server ignores them without a word. */
const PARAMS = [
  'replication_factor',
  'write_consistency_factor',
  'read_fan_out_factor',
  'read_fan_out_delay_ms',
  'on_disk_payload',
];
/** What is there stays where the patch does not say otherwise. By the name it is given, and the one it is told by. */
const MERGED = [
  ['hnsw_config', 'hnsw_config'],
  ['optimizers_config', 'optimizer_config'],
  ['strict_mode_config', 'strict_mode_config'],
] as const;
const IMMUTABLE_OF_VECTORS = ['size', 'distance', 'datatype', 'multivector_config'];
const MUTABLE_OF_VECTORS = ['on_disk', 'memory'];
/** What the server does not mention while it is so. */
const UNSAID: JsonObject = { datatype: 'float32', sharding_method: 'auto', on_disk: false };

/** Before 1.18, a collection has the vectors for good that it was made with. */
export function driftOf(spec: CollectionSpec, config: JsonObject, canAddVectors = false): Drift {
  const wanted = settingsIn(spec);
  const params = objectAt(config, 'params');
  const dense = namedVectors(objectAt(params, 'vectors'));
  const sparse = objectAt(params, 'sparse_vectors');
  const parts: readonly JsonObject[] = [
    under('params', differing(pick(wanted, PARAMS), params)),
    ...MERGED.map(([key, told]) => under(key, differing(objectAt(wanted, key), config[told]))),
    quantizationOf(wanted, config),
    under('metadata', metadataOf(objectAt(wanted, 'metadata'), objectAt(config, 'metadata'))),
    under('vectors', eachOf(Object.fromEntries(vectorsIn(spec)), dense, changesOfVector)),
    under('sparse_vectors', eachOf(objectAt(wanted, 'sparse_vectors'), sparse, changesOfSparse)),
  ];
  const patch = parts.reduce(merged, {});
  const missing = canAddVectors ? missingIn(spec, objectAt(wanted, 'sparse_vectors'), dense, sparse) : [];
  const isMissing = (kind: MissingVector['kind'], name: string) =>
    missing.some((one) => one.kind === kind && one.name === name);
  return {
    patch: Object.keys(patch).length > 0 ? patch : undefined,
    missing,
    immutable: [
      ...fixed('', pick(wanted, ['shard_number', 'sharding_method']), params),
      ...fixed('wal_config.', objectAt(wanted, 'wal_config'), objectAt(config, 'wal_config')),
      ...[...vectorsIn(spec)].flatMap(([name, vector]) =>
        isMissing('dense', name) ? [] : fixedOfVector(name, vector, dense[name]),
      ),
      ...Object.entries(objectAt(wanted, 'sparse_vectors')).flatMap(([name, vector]) =>
        isMissing('sparse', name) ? [] : fixedOfSparse(name, vector, sparse[name]),
      ),
    ],
  };
}

/**
 * A collection that has none of the vectors is not one that lacks some: it was made for something else. And one with a vector
 * without a name can have no other dense one.
 */
function missingIn(
  spec: CollectionSpec,
  sparseWanted: JsonObject,
  dense: JsonObject,
  sparse: JsonObject,
): readonly MissingVector[] {
  // One that is made is made with what is usual, whoever made the collection.
  const wanted = [...vectorsIn(completed(spec))];
  if (!wanted.some(([name]) => isObject(dense[name]))) return [];
  const absent = wanted.filter(([name]) => !isObject(dense[name]));
  return [
    ...(UNNAMED in dense ? [] : absent.filter(([name]) => name !== UNNAMED)).map(
      ([name, vector]): MissingVector => ({ name, kind: 'dense', config: said(pick(vector, IMMUTABLE_OF_VECTORS)) }),
    ),
    ...Object.entries(sparseWanted)
      .filter(([name]) => !isObject(sparse[name]))
      .map(([name, vector]): MissingVector => {
        const config = { ...pick(objectAt({ vector }, 'vector'), ['modifier']), ...datatypeIn(vector) };
        return { name, kind: 'sparse', config: said(config) };
      }),
  ];
}

const datatypeIn = (sparse: Json): JsonObject => pick(objectAt(sparse, 'index'), ['datatype']);

const said = (config: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));

/** The one without a name under the empty one, as patches have it. */
const namedVectors = (vectors: JsonObject): JsonObject => (isUnnamed(vectors) ? { [UNNAMED]: vectors } : vectors);

const under = (key: string, part: JsonObject): JsonObject => (Object.keys(part).length > 0 ? { [key]: part } : {});

const pick = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));

/** Those keys of `wanted` that are not so. */
function differing(wanted: JsonObject, there: Json | undefined): JsonObject {
  const known = isObject(there) ? there : {};
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([key, value]) => !isIgnored(wanted, key) && !covers(known[key] ?? UNSAID[key], value),
    ),
  );
}

/** `memory` says the same as `on_disk`, and more: where both are, it alone counts. */
const isIgnored = (wanted: JsonObject, key: string): boolean =>
  key === 'on_disk' && (wanted['memory'] ?? null) !== null;

/** Replaced as a whole. */
function quantizationOf(wanted: JsonObject, there: JsonObject): JsonObject {
  const { quantization_config: quantization = null } = wanted;
  const now = there['quantization_config'] ?? null;
  if (quantization === null) return {};
  const isSo = isObject(quantization) ? covers(now, quantization) : now === null;
  return isSo ? {} : { quantization_config: quantization };
}

/** Each key replaces what it had; null takes it away. */
const metadataOf = (wanted: JsonObject, there: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) =>
      value === null ? (there[key] ?? null) !== null : !isSame(there[key] ?? null, value),
    ),
  );

/** Of vectors that are there: to name another one would be refused, and all of the patch with it. */
function eachOf(
  wanted: JsonObject,
  there: JsonObject,
  changes: (wanted: JsonObject, there: JsonObject) => JsonObject,
): JsonObject {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([name, vector]) => {
      const now = there[name];
      const part = isObject(vector) && isObject(now) ? changes(vector, now) : {};
      return Object.keys(part).length > 0 ? [[name, part]] : [];
    }),
  );
}

const changesOfVector = (wanted: JsonObject, there: JsonObject): JsonObject => ({
  ...differing(pick(wanted, MUTABLE_OF_VECTORS), there),
  ...under('hnsw_config', differing(objectAt(wanted, 'hnsw_config'), there['hnsw_config'])),
  ...quantizationOf(wanted, there),
});

function changesOfSparse(wanted: JsonObject, there: JsonObject): JsonObject {
  const { datatype: _, ...index } = objectAt(wanted, 'index');
  return {
    ...differing(pick(wanted, ['modifier']), there),
    ...under('index', differing(index, there['index'])),
  };
}

function fixed(prefix: string, wanted: JsonObject, there: JsonObject): readonly Difference[] {
  return Object.entries(wanted).flatMap(([key, value]): Difference[] => {
    const now = there[key] ?? UNSAID[key] ?? null;
    return covers(now, value) ? [] : [{ field: `${prefix}${key}`, there: now, wanted: value }];
  });
}

function fixedOfVector(name: string, wanted: JsonObject, there: Json | undefined): readonly Difference[] {
  const field = name === UNNAMED ? 'vectors' : `vectors.${name}`;
  if (!isObject(there)) return [{ field, there: null, wanted }];
  return fixed(`${field}.`, pick(wanted, IMMUTABLE_OF_VECTORS), there);
}

function fixedOfSparse(name: string, wanted: Json, there: Json | undefined): readonly Difference[] {
  const field = `sparse_vectors.${name}`;
  if (!isObject(there)) return [{ field, there: null, wanted }];
  return fixed(`${field}.index.`, datatypeIn(wanted), objectAt(there, 'index'));
}

/** Whether what is there is what is wanted, wherever something is. */
function covers(there: Json | undefined, wanted: Json): boolean {
  if (wanted === null) return true;
  // How the server calls what it decides by itself.
  if (wanted === 'auto' && (there ?? null) === null) return true;
  if (!isObject(wanted)) return isSame(there ?? null, wanted);
  return (
    isObject(there) &&
    Object.entries(wanted).every(([key, value]) => isIgnored(wanted, key) || covers(there[key], value))
  );
}

function isSame(a: Json, b: Json): boolean {
  if (typeof a === 'number' && typeof b === 'number') return isSameNumber(a, b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, at) => isSame(one, b[at] ?? null));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => key in a && key in b && isSame(a[key] ?? null, b[key] ?? null));
}

/** The server keeps fractions in half as many digits as we do. */
const isSameNumber = (a: number, b: number): boolean =>
  a === b || (!(Number.isInteger(a) && Number.isInteger(b)) && Math.fround(a) === Math.fround(b));
