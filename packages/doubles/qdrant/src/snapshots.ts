/** Snapshots of what one peer has: how they are made, what is in them, and what restoring them does to the cluster. */
import { createHash } from 'node:crypto';
import { create, place } from './creation.ts';
import { keyOf, type Point, type Points, type SnapshotFile } from './disk.ts';
import { isObject, type Json, type JsonObject, numberAt, objectAt, parseJson, present, printJson } from './json.ts';
import { PACE } from './pace.ts';
import { type Peer, shardName } from './peer/index.ts';
import { pointsOf } from './point-json.ts';
import { type Collection, type Refusal, resolve } from './state/index.ts';

export const PRIORITIES = ['no_sync', 'snapshot', 'replica'] as const;
export type Priority = (typeof PRIORITIES)[number];

interface ShardContent {
  readonly id: number;
  readonly points: readonly Point[];
}

/** What a snapshot file holds. Aliases are not among it. */
type Content =
  | {
      readonly is: 'collection';
      readonly config: JsonObject;
      readonly indexes: JsonObject;
      readonly shards: readonly ShardContent[];
    }
  /** Of which collection or shard it was is nowhere in it. */
  | { readonly is: 'shard'; readonly indexes: JsonObject; readonly points: readonly Point[] };

const MAGIC = 'qdrant-snapshot\n';

function fileOf(peer: Peer, content: JsonObject): SnapshotFile {
  const bytes = Buffer.from(MAGIC + printJson(content));
  return { bytes, createdAt: peer.clock.now(), checksum: checksumOf(bytes) };
}

export const checksumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const printed = (points: Points | undefined): readonly Json[] =>
  [...(points?.values() ?? [])].map(({ id, vector, payload }) => ({ id, vector, payload }));

/** Of the shards that are here. */
export function collectionSnapshot(peer: Peer, collection: Collection): SnapshotFile {
  const shards = collection.shards
    .filter(({ replicas }) => peer.id in replicas)
    .map(({ id }) => ({ id, points: printed(peer.disk.points(shardName(collection, id))) }));
  return fileOf(peer, { is: 'collection', config: collection.config, indexes: collection.indexes, shards });
}

export function shardSnapshot(peer: Peer, collection: Collection, shard: number): SnapshotFile {
  const points = printed(peer.disk.points(shardName(collection, shard)));
  return fileOf(peer, { is: 'shard', indexes: collection.indexes, points });
}

/** `2026-01-02-03-04-05`: two snapshots of the same second have the same name, and the later is the file. */
export const stampOf = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-');

function contentOf(bytes: Uint8Array): Content | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  if (!text.startsWith(MAGIC)) return undefined;
  const content = parseJson(text.slice(MAGIC.length));
  if (!isObject(content)) return undefined;
  const indexes = objectAt(content, 'indexes');
  if (content['is'] === 'shard') return { is: 'shard', indexes, points: pointsOf(content['points']) };
  const shards = Array.isArray(content['shards']) ? content['shards'].filter((one) => isObject(one)) : [];
  return {
    is: 'collection',
    config: objectAt(content, 'config'),
    indexes,
    shards: shards.map((one) => ({ id: numberAt(one, 'id') ?? 0, points: pointsOf(one['points']) })),
  };
}

const NO_ARCHIVE: Refusal = {
  status: 500,
  error: 'Service internal error: File IO error: Malformed tar archive, reached unknown entry',
};

/** Into a collection, which is created from the file if it is not there. Undefined: it is on its way. */
export async function restoreCollection(
  peer: Peer,
  name: string,
  bytes: Uint8Array,
  priority: Priority,
): Promise<Refusal | undefined> {
  const content = contentOf(bytes);
  if (!content) return NO_ARCHIVE;
  if (content.is === 'shard') {
    const error =
      'Service internal error: Failed to read collection config ./config.json: No such file or directory (os error 2)';
    return { status: 500, error };
  }
  const created = await ensured(peer, name, content.config);
  if (!('name' in created)) return created;
  const objection = mismatch(created, content.config);
  if (objection) return objection;
  await peer.pause(PACE.recover);
  await Promise.all(content.shards.map(({ id, points }) => replaceShard(peer, created, id, points)));
  await restoreIndexes(peer, created, content.indexes);
  for (const { id } of content.shards) void settle(peer, created, id, priority, 'collection');
  return undefined;
}

async function ensured(peer: Peer, name: string, config: JsonObject): Promise<Collection | Refusal> {
  const existing = resolve(peer.view, name);
  if (existing) return existing;
  const params = objectAt(config, 'params');
  const placed = place(peer, numberAt(params, 'shard_number') ?? 1, numberAt(params, 'replication_factor') ?? 1);
  await create(peer, { do: 'create-collection', collection: name, config, placement: placed }, 10_000);
  return (
    resolve(peer.view, name) ?? { status: 500, error: 'Service internal error: the collection could not be created' }
  );
}

function mismatch(collection: Collection, config: JsonObject): Refusal | undefined {
  const [ours, theirs] = [objectAt(collection.config, 'params'), objectAt(config, 'params')];
  const wrong = (what: string): Refusal => ({
    status: 400,
    error: `Wrong input: Snapshot is not compatible with existing collection: ${what}`,
  });
  const [shards, inFile] = [ours['shard_number'] ?? 1, theirs['shard_number'] ?? 1];
  if (shards !== inFile)
    return wrong(`Collection shard number: ${printJson(shards)} Snapshot shard number: ${printJson(inFile)}`);
  const [vectors, vectorsInFile] = [printJson(shapeOf(ours)), printJson(shapeOf(theirs))];
  if (vectors !== vectorsInFile) return wrong(`Collection vectors: ${vectors} Snapshot vectors: ${vectorsInFile}`);
  return undefined;
}

/** Of vectors, what can't be changed. */
function shapeOf(params: JsonObject): Json {
  const vectors = objectAt(params, 'vectors');
  const shape = (one: JsonObject) => present({ size: one['size'], distance: one['distance'] });
  if ('size' in vectors && !isObject(vectors['size'])) return shape(vectors);
  return Object.fromEntries(
    Object.keys(vectors)
      .toSorted()
      .map((name) => [name, shape(objectAt(vectors, name))]),
  );
}

/** Into a shard. Nothing is compared: what is in the file becomes the shard, whatever it was taken from. */
export async function restoreShard(
  peer: Peer,
  collection: Collection,
  shard: number,
  bytes: Uint8Array,
  priority: Priority,
): Promise<Refusal | undefined> {
  const content = contentOf(bytes);
  if (!content) return NO_ARCHIVE;
  if (content.is === 'collection') return { status: 400, error: 'Bad request: Invalid snapshot' };
  await peer.pause(PACE.recover);
  await replaceShard(peer, collection, shard, content.points);
  await restoreIndexes(peer, collection, content.indexes);
  void settle(peer, collection, shard, priority, 'shard');
  return undefined;
}

/** A peer that has no replica gets one by this. */
async function replaceShard(
  peer: Peer,
  collection: Collection,
  shard: number,
  points: readonly Point[],
): Promise<void> {
  const name = shardName(collection, shard);
  peer.recovering.add(name);
  await peer.propose({ do: 'set-replica', collection: collection.name, shard, peer: peer.id, to: 'ManualRecovery' });
  if (peer.isUp) peer.disk.putShard(name, new Map(points.map((point) => [keyOf(point.id), point])));
}

async function restoreIndexes(peer: Peer, { name, indexes }: Collection, inFile: JsonObject): Promise<void> {
  for (const [field, schema] of Object.entries(inFile)) {
    if (field in indexes || !isObject(schema)) continue;
    await peer.propose({ do: 'put-index', collection: name, field, schema });
  }
}

/** What happens to the replicas after the answer: for a moment, everybody still sees the state of before. */
async function settle(
  peer: Peer,
  { name, serial }: Collection,
  shard: number,
  priority: Priority,
  level: 'collection' | 'shard',
): Promise<void> {
  await peer.pause(PACE.marks);
  const now = () => peer.view.collections[name]?.shards.find(({ id }) => id === shard)?.replicas ?? {};
  const others = Object.keys(now()).filter((id) => id !== peer.id);
  const active = others.find((id) => now()[id] === 'Active');
  const isWanted = () => peer.view.collections[name]?.serial === serial;
  const become = (id: string, to: 'Active' | 'Dead') =>
    peer.insist({ do: 'set-replica', collection: name, shard, peer: id, to }, isWanted);
  if (priority === 'replica' && active !== undefined && level === 'collection') {
    // Submitted without a method, which is an entry that nobody can apply.
    await peer.propose({
      do: 'start-transfer',
      collection: name,
      shard,
      from: active,
      to: peer.id,
      sync: true,
      method: undefined,
    });
  } else if (priority === 'replica' && active !== undefined) {
    await become(peer.id, 'Dead');
  } else {
    await become(peer.id, 'Active');
    if (priority === 'snapshot') await demote(peer, name, shard, others, level, become, isWanted);
  }
  peer.recovering.delete(shardName({ serial }, shard));
}

/** The other replicas no longer have what counts: they are filled again, or dropped if there are more than asked for. */
async function demote(
  peer: Peer,
  name: string,
  shard: number,
  others: readonly string[],
  level: 'collection' | 'shard',
  become: (id: string, to: 'Dead') => Promise<void>,
  isWanted: () => boolean,
): Promise<void> {
  const params = objectAt(peer.view.collections[name]?.config ?? {}, 'params');
  const kept = level === 'shard' ? others.length : (numberAt(params, 'replication_factor') ?? 1) - 1;
  for (const [at, id] of others.entries()) {
    if (at < kept) await become(id, 'Dead');
    else await peer.insist({ do: 'drop-replica', collection: name, shard, peer: id }, isWanted);
  }
}
