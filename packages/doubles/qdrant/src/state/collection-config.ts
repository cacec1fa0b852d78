import { isObject, type Json, type JsonObject, numberAt, objectAt, present, printJson } from '../json.ts';
import { without } from './cluster-state.ts';
import type { Refusal } from './entry.ts';

/** What a server's own configuration says of collections that do not say it. */
export interface CollectionDefaults {
  readonly replicationFactor: number;
  readonly writeConsistencyFactor: number;
  /** One for each peer, unless told otherwise. */
  readonly shardNumber: number;
}

export interface NewCollection {
  readonly config: JsonObject;
  readonly shardNumber: number;
  readonly replicationFactor: number;
  readonly isCustomSharded: boolean;
}

const DISTANCES: readonly Json[] = ['Cosine', 'Euclid', 'Dot', 'Manhattan'];

const HNSW: JsonObject = {
  m: 16,
  ef_construct: 100,
  full_scan_threshold: 10_000,
  max_indexing_threads: 0,
  on_disk: false,
};
const OPTIMIZERS: JsonObject = {
  deleted_threshold: 0.2,
  vacuum_min_vector_number: 1_000,
  default_segment_number: 0,
  max_segment_size: null,
  memmap_threshold: null,
  indexing_threshold: 10_000,
  flush_interval_sec: 5,
  max_optimization_threads: null,
  prevent_unoptimized: false,
};
const WAL: JsonObject = { wal_capacity_mb: 32, wal_segments_ahead: 0, wal_retain_closed: 1 };

/** What a body asks for, with everything filled in that it leaves open. Keys that nobody knows are ignored. */
export function newCollection(body: JsonObject, defaults: CollectionDefaults): NewCollection | Refusal {
  const vectors = body['vectors'];
  if (vectors !== undefined && !areVectors(vectors))
    return formatError('data did not match any variant of untagged enum VectorsConfig');
  for (const key of ['shard_number', 'replication_factor', 'write_consistency_factor']) {
    const value = body[key];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
      return formatError(`invalid value: ${printJson(value)}, expected u32`);
    if (value === 0) return validationError('JSON body', key, 'value 0 invalid, must be 1 or larger');
  }
  const isCustomSharded = body['sharding_method'] === 'custom';
  const shardNumber = numberAt(body, 'shard_number') ?? (isCustomSharded ? 1 : defaults.shardNumber);
  const replicationFactor = numberAt(body, 'replication_factor') ?? defaults.replicationFactor;
  const params = present({
    vectors: vectors ?? {},
    shard_number: shardNumber,
    sharding_method: body['sharding_method'],
    replication_factor: replicationFactor,
    write_consistency_factor: numberAt(body, 'write_consistency_factor') ?? defaults.writeConsistencyFactor,
    on_disk_payload: body['on_disk_payload'] ?? true,
    sparse_vectors: body['sparse_vectors'],
  });
  const config = present({
    params,
    hnsw_config: { ...HNSW, ...objectAt(body, 'hnsw_config') },
    optimizer_config: { ...OPTIMIZERS, ...objectAt(body, 'optimizers_config') },
    wal_config: { ...WAL, ...objectAt(body, 'wal_config') },
    quantization_config: body['quantization_config'] ?? null,
    strict_mode_config: body['strict_mode_config'],
    metadata: body['metadata'],
  });
  return { config, shardNumber, replicationFactor, isCustomSharded };
}

const isVector = (value: Json): boolean => {
  if (!isObject(value)) return false;
  const size = value['size'];
  return (
    typeof size === 'number' && Number.isInteger(size) && size > 0 && DISTANCES.includes(value['distance'] ?? null)
  );
};

const areVectors = (value: Json): boolean =>
  isVector(value) || (isObject(value) && Object.values(value).every(isVector));

/** What can be changed later. Everything else in a patch is ignored without a word, known or not. */
const MUTABLE_PARAMS = [
  'replication_factor',
  'write_consistency_factor',
  'read_fan_out_factor',
  'read_fan_out_delay_ms',
  'on_disk_payload',
];
const MUTABLE_OF_VECTORS = ['on_disk', 'memory'];

export function patched(
  config: JsonObject,
  patch: JsonObject,
): { readonly config: JsonObject } | { readonly error: string } {
  const params = objectAt(config, 'params');
  const changed = patchedVectors(params['vectors'] ?? {}, objectAt(patch, 'vectors'));
  if ('error' in changed) return changed;
  const { sparse_vectors: sparse = {} } = patch;
  const quantization = patch['quantization_config'];
  return {
    config: present({
      ...config,
      params: present({
        ...params,
        ...picked(objectAt(patch, 'params'), MUTABLE_PARAMS),
        vectors: changed.vectors,
        sparse_vectors:
          isObject(params['sparse_vectors']) && isObject(sparse)
            ? patchedSparse(params['sparse_vectors'], sparse)
            : params['sparse_vectors'],
      }),
      hnsw_config: { ...objectAt(config, 'hnsw_config'), ...objectAt(patch, 'hnsw_config') },
      optimizer_config: { ...objectAt(config, 'optimizer_config'), ...objectAt(patch, 'optimizers_config') },
      quantization_config: quantization === 'Disabled' ? null : (quantization ?? config['quantization_config']),
      strict_mode_config: isObject(patch['strict_mode_config'])
        ? { ...objectAt(config, 'strict_mode_config'), ...patch['strict_mode_config'] }
        : config['strict_mode_config'],
      metadata: isObject(patch['metadata'])
        ? merged(objectAt(config, 'metadata'), patch['metadata'])
        : config['metadata'],
    }),
  };
}

function patchedVectors(vectors: Json, patch: JsonObject): { readonly vectors: Json } | { readonly error: string } {
  let changed = vectors;
  for (const [name, wanted] of Object.entries(patch)) {
    if (!isObject(changed) || !isObject(wanted)) continue;
    // The one vector without a name goes by the empty one.
    const target = isVector(changed) ? (name === '' ? changed : undefined) : changed[name];
    if (!isObject(target)) return { error: `Wrong input: Not existing vector name error: ${name}` };
    const vector = patchedVector(target, wanted);
    changed = name === '' ? vector : { ...changed, [name]: vector };
  }
  return { vectors: changed };
}

function patchedVector(vector: JsonObject, patch: JsonObject): JsonObject {
  const { hnsw_config: hnsw, quantization_config: quantization } = patch;
  return present({
    ...vector,
    ...picked(patch, MUTABLE_OF_VECTORS),
    hnsw_config: isObject(hnsw) ? { ...objectAt(vector, 'hnsw_config'), ...hnsw } : vector['hnsw_config'],
    quantization_config: quantization === 'Disabled' ? undefined : (quantization ?? vector['quantization_config']),
  });
}

function patchedSparse(vectors: JsonObject, patch: JsonObject): JsonObject {
  const changed = Object.entries(patch).map(([name, wanted]) => {
    const [vector, change] = [objectAt(vectors, name), isObject(wanted) ? wanted : {}];
    const index = { ...objectAt(vector, 'index'), ...objectAt(change, 'index') };
    return [name, present({ ...vector, ...change, index: Object.keys(index).length > 0 ? index : undefined })];
  });
  return { ...vectors, ...Object.fromEntries(changed) };
}

const picked = (from: JsonObject, keys: readonly string[]): JsonObject =>
  present(Object.fromEntries(keys.map((key) => [key, from[key]])));

function merged(old: JsonObject, patch: JsonObject): JsonObject {
  let all: JsonObject = { ...old, ...patch };
  for (const [key, value] of Object.entries(patch)) if (value === null) all = without(all, key);
  return all;
}

/** The checks of a patch that come before anything else. */
export function patchObjection(patch: JsonObject): Refusal | undefined {
  const factor = objectAt(patch, 'params')['replication_factor'];
  if (factor === 0) return formatError('invalid value: integer `0`, expected a nonzero u32');
  return undefined;
}

/** Characters that no collection may have in its name. */
const FORBIDDEN = ['<', '>', ':', '"', '/', '\\', '|', '?', '*', '\0', '\u001f'];

export function nameObjection(name: string): Refusal | undefined {
  const forbidden = FORBIDDEN.find((one) => name.includes(one));
  if (forbidden !== undefined) {
    return validationError('path parameters', 'collection_name', `collection name cannot contain "${forbidden}" char`);
  }
  if (name.length > 255) {
    return validationError(
      'path parameters',
      'collection_name',
      `value "${name}" invalid, must be at most 255 characters`,
    );
  }
  return undefined;
}

/** Where a real server counts the column, this one points at the first: nobody may build on it. */
export const formatError = (what: string): Refusal => ({
  status: 400,
  error: `Format error in JSON body: ${what} at line 1 column 1`,
});

export const validationError = (where: string, field: string, what: string): Refusal => ({
  status: 422,
  error: `Validation error in ${where}: [${field}: ${what}]`,
});

export const isRefusal = (value: object): value is Refusal => 'error' in value && 'status' in value;
