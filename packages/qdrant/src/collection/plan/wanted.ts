import { isObject, type Json, type JsonObject, objectAt, parseJson } from '../../api/index.ts';
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

/** What a collection is made with where its spec is silent. */
export const USUAL = { distance: 'Cosine', shardNumber: 1, replicationFactor: 1, onDisk: true } as const;

/** The spec of a collection that we make: it is to stay as it was made, also in what its spec is silent about. */
export const completed = (spec: CollectionSpec): CollectionSpec => ({ ...USUAL, ...spec });

/** What a collection is created from. Shards and copies are always said: left out, the configuration of a peer decides. */
export const creationOf = (spec: CollectionSpec): JsonObject => saidBy(completed(spec));

/** Everything that a spec says, and nothing else, as the server takes it at a creation. */
function saidBy(spec: CollectionSpec): JsonObject {
  const {
    vectors: _vectors,
    optimizer_config: singular,
    quantization_config: quantization,
    ...config
  } = configOf(spec);
  const vectors = new Map([...vectorsIn(spec)].map(([name, vector]) => [name, creatable(vector)]));
  const single = vectors.get(UNNAMED);
  const { shardNumber, replicationFactor, shardKeys = [] } = spec;
  return {
    ...(shardNumber !== undefined && { shard_number: shardNumber }),
    ...(replicationFactor !== undefined && { replication_factor: replicationFactor }),
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
  return { ...saidBy(spec), ...(quantization !== null && { quantization_config: quantization }) };
};

/** What holds of the whole collection once it is as it is declared: what nobody declares is as it is. */
export const effectiveOf = (declared: CollectionSpec, config: JsonObject): JsonObject => ({
  ...objectAt(config, 'params'),
  ...settingsIn(declared),
});

/** The vectors by their names. What the config says of one adds to what the spec says of all, and wins. */
export function vectorsIn(spec: CollectionSpec): ReadonlyMap<string, JsonObject> {
  const given = objectIn(configOf(spec), 'vectors');
  const { vectorSize: size, distance, onDisk } = spec;
  const usual = { size, ...(distance !== undefined && { distance }) };
  const whole = (vector: JsonObject): JsonObject => {
    // Which of the two says where vectors are kept: `memory`, if both do.
    const isKeptByMemory = vector['memory'] !== undefined && vector['memory'] !== null;
    const { on_disk: own = null, ...rest } = merged(usual, vector);
    const isOnDisk = own ?? onDisk;
    return isKeptByMemory || isOnDisk === undefined ? rest : { ...rest, on_disk: isOnDisk };
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
