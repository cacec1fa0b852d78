/**
 * What a backup holds, in the bucket beside its files and written after the last of them: a set without it is not complete.
 * A file by itself says neither to which shard it belongs nor how the vectors in it are, and the server takes any: what is
 * restored is checked against this.
 */
export interface Manifest {
  readonly format: 1;
  readonly id: string;
  readonly cluster: string;
  /** That of the cluster: others of the same name may keep their backups in the same bucket. */
  readonly namespace?: string;
  readonly collection: string;
  readonly takenAt: string;
  readonly qdrantVersion: string;
  /** As a collection is created: what the server told of it, in the shape that it takes. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly shardNumber: number;
  readonly replicationFactor: number;
  /** They are in no snapshot. */
  readonly aliases: readonly string[];
  readonly shards: readonly ShardFile[];
}

export interface ShardFile {
  readonly id: number;
  /** Of a collection whose points say to which shard they belong. */
  readonly key?: string | number;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Undefined: it is not one, or one of a later program. */
export function manifestOf(text: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isManifest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS = ['id', 'cluster', 'collection', 'takenAt', 'qdrantVersion'] as const;

const isManifest = (value: unknown): value is Manifest =>
  isFields(value) &&
  value['format'] === 1 &&
  TEXTS.every((name) => isText(value[name])) &&
  (value['namespace'] === undefined || isText(value['namespace'])) &&
  isFields(value['config']) &&
  isWhole(value['shardNumber'], 0) &&
  isWhole(value['replicationFactor'], 1) &&
  isListOf(value['aliases'], isText) &&
  isListOf(value['shards'], isShardFile);

const isShardFile = (value: unknown): value is ShardFile =>
  isFields(value) &&
  isWhole(value['id'], 0) &&
  (value['key'] === undefined || isText(value['key']) || Number.isInteger(value['key'])) &&
  isText(value['file']) &&
  isWhole(value['bytes'], 0) &&
  isText(value['sha256']) &&
  /^[0-9a-f]{64}$/.test(value['sha256']);

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string => typeof value === 'string';

const isWhole = (value: unknown, atLeast: number): value is number =>
  Number.isInteger(value) && Number(value) >= atLeast;

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isItem);
