import { isObject, type Json, type JsonObject, parseJson } from '../../api/index.ts';
import type { CollectionSpec } from '../../kinds/index.ts';

/** The one vector that has no name goes by this one. */
export const UNNAMED = '';

/** Keys of the parameters of a vector. What has none of them has vectors with names. */
const VECTOR_KEYS = [
  'size',
  'distance',
  'on_disk',
  'memory',
  'hnsw_config',
  'quantization_config',
  'datatype',
  'multivector_config',
];

export const isUnnamed = (vectors: JsonObject): boolean => VECTOR_KEYS.some((key) => key in vectors);

/** What a collection is created from: everything that the spec says, as the server takes it. */
export function creationOf(spec: CollectionSpec): JsonObject {
  const {
    vectors: _vectors,
    optimizer_config: singular,
    quantization_config: quantization,
    ...config
  } = configOf(spec);
  const vectors = new Map([...vectorsIn(spec)].map(([name, vector]) => [name, creatable(vector)]));
  const single = vectors.get(UNNAMED);
  const { shardNumber = 1, replicationFactor = 1, shardKeys = [] } = spec;
  return {
    shard_number: shardNumber,
    // Always said: what is left out is decided by the configuration of the peer that is asked.
    replication_factor: replicationFactor,
    ...(shardKeys.length > 0 && { sharding_method: 'custom' }),
    ...config,
    // The server reads it by one name and takes it by another.
    ...(isObject(singular) && { optimizers_config: merged(singular, objectIn(config, 'optimizers_config')) }),
    ...creatable({ quantization_config: quantization ?? null }),
    vectors: single ?? Object.fromEntries(vectors),
  };
}

/** `Disabled` is a word of changes: at a creation, what is disabled is left out. */
function creatable({ quantization_config: quantization, ...rest }: JsonObject): JsonObject {
  return isObject(quantization) ? { ...rest, quantization_config: quantization } : rest;
}

/** What the spec says of the whole collection beside its vectors, for comparisons: also what can't be said at its creation. */
export const settingsIn = (spec: CollectionSpec): JsonObject => {
  const { quantization_config: quantization = null } = configOf(spec);
  return { ...creationOf(spec), ...(quantization !== null && { quantization_config: quantization }) };
};

/** The vectors by their names. What the config says of one adds to what the spec says of all, and wins. */
export function vectorsIn(spec: CollectionSpec): ReadonlyMap<string, JsonObject> {
  const given = objectIn(configOf(spec), 'vectors');
  const { vectorSize: size, distance = 'Cosine', onDisk = true } = spec;
  const whole = (vector: JsonObject): JsonObject => {
    // Which of the two says where vectors are kept: `memory`, if both do.
    const isKeptByMemory = vector['memory'] !== undefined && vector['memory'] !== null;
    const { on_disk: _, ...rest } = merged({ size, distance, on_disk: onDisk }, vector);
    return isKeptByMemory ? rest : { ...rest, on_disk: vector['on_disk'] ?? onDisk };
  };
  if (Object.keys(given).length === 0 || isUnnamed(given)) return new Map([[UNNAMED, whole(given)]]);
  return new Map(Object.entries(given).map(([name, vector]) => [name, whole(isObject(vector) ? vector : {})]));
}

/** Deep, so that a distance does not take the size away. */
export function merged(base: JsonObject, over: JsonObject): JsonObject {
  const entries = Object.entries(over).map(([key, value]): [string, Json] => {
    const below = base[key];
    return [key, isObject(below) && isObject(value) ? merged(below, value) : value];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

function configOf({ config = {} }: CollectionSpec): JsonObject {
  const json = parseJson(JSON.stringify(config));
  return isObject(json) ? json : {};
}

const objectIn = (of: JsonObject, key: string): JsonObject => {
  const value = of[key];
  return isObject(value) ? value : {};
};
