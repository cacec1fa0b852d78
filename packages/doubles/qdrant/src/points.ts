/** Points as a peer serves them to clients: it spreads writes over the replicas it knows of, and reads from one of each shard. */
import { createHash } from 'node:crypto';
import { keyOf, type Point, type PointId, type PointOperation, type Points } from './disk.ts';
import { numberAt, objectAt } from './json.ts';
import { PACE } from './pace.ts';
import { type Peer, ShardError, shardName } from './peer/index.ts';
import { type Collection, type PeerId, peersIn, type ReplicaState, type Shard, type ShardKey } from './state/index.ts';

/** Replicas in these states get every write. */
const WRITTEN: readonly ReplicaState[] = ['Active', 'Partial', 'Initializing', 'Listener', 'Resharding'];

export type Written = { readonly is: 'written' } | { readonly is: 'failed'; readonly error: string };

/** Where a point belongs, if no key says so. */
export function shardOf({ shards }: Collection, id: PointId): Shard | undefined {
  const hash = createHash('sha256').update(keyOf(id)).digest().readUInt32BE();
  return shards[hash % Math.max(1, shards.length)];
}

export async function upsert(
  peer: Peer,
  collection: Collection,
  points: readonly Point[],
  key: ShardKey | undefined,
  wait: boolean,
): Promise<Written> {
  return spread(
    peer,
    collection,
    points,
    key,
    wait,
    ({ id }) => id,
    (part) => ({ upsert: part }),
  );
}

export async function remove(
  peer: Peer,
  collection: Collection,
  ids: readonly PointId[],
  key: ShardKey | undefined,
  wait: boolean,
): Promise<Written> {
  return spread(
    peer,
    collection,
    ids,
    key,
    wait,
    (id) => id,
    (part) => ({ delete: part }),
  );
}

async function spread<T>(
  peer: Peer,
  collection: Collection,
  items: readonly T[],
  key: ShardKey | undefined,
  wait: boolean,
  idOf: (item: T) => PointId,
  operationOf: (part: readonly T[]) => PointOperation,
): Promise<Written> {
  const chosen = collection.shards.filter((shard) => shard.key === key);
  const parts = Map.groupBy(items, (item) => shardOf({ ...collection, shards: chosen }, idOf(item)));
  const results = await Promise.all(
    [...parts].map(async ([shard, part]) =>
      shard ? write(peer, collection, shard, operationOf(part), wait) : failed('Service internal error: no shard'),
    ),
  );
  const errors = results.flatMap((result) => (result.is === 'failed' ? [result.error] : []));
  if (errors[0] === undefined) return { is: 'written' };
  return failed(
    `Service internal error: ${errors.length} out of ${results.length} shards failed to apply operation. First error captured: ${errors[0]}`,
  );
}

const failed = (error: string): Written => ({ is: 'failed', error });

async function write(
  peer: Peer,
  collection: Collection,
  shard: Shard,
  operation: PointOperation,
  wait: boolean,
): Promise<Written> {
  if (peersIn(shard, 'Active').length === 0) {
    return failed(
      `Service internal error: The replica set for shard ${shard.id} on peer ${peer.id} has no active replica`,
    );
  }
  const name = shardName(collection, shard.id);
  const targets = peersIn(shard, ...WRITTEN);
  const results = await Promise.all(
    targets.map(async (id) => ({ id, called: await peer.call(id, (target) => target.write(name, operation)) })),
  );
  const written = results.filter(({ called }) => called.is === 'answered').map(({ id }) => id);
  const missed = results.flatMap(({ id, called }) => (called.is === 'failed' ? [{ id, error: called.error }] : []));
  const [first] = missed;
  if (!first) return { is: 'written' };
  // More than there are replicas is not asked for, whatever the collection says.
  const factor = numberAt(objectAt(collection.config, 'params'), 'write_consistency_factor') ?? 1;
  // Not enough: what was written stays written, and nobody is marked.
  if (written.length < Math.min(factor, results.length)) return failed(first.error);
  if (!written.some((id) => shard.replicas[id] === 'Active')) return failed(UNSURE);
  const marking = Promise.all(missed.map(({ id }) => markDead(peer, collection, shard, id)));
  if (!wait) return { is: 'written' };
  return (await marking).every(Boolean) ? { is: 'written' } : failed(UNSURE);
}

const UNSURE =
  'Service internal error: Failed to apply operation to at least one `Active` replica. Consistency of this operation is not guaranteed. Please retry.';

/** Whoever missed a write must not be read from any more. False if the cluster could not agree on that. */
async function markDead(peer: Peer, collection: Collection, shard: Shard, id: PeerId): Promise<boolean> {
  const entry = { do: 'set-replica', collection: collection.name, shard: shard.id, peer: id, to: 'Dead' } as const;
  const isMarked = () => {
    const now = peer.view.collections[collection.name]?.shards.find((one) => one.id === shard.id);
    return now === undefined || !WRITTEN.includes(now.replicas[id] ?? 'Dead');
  };
  if (isMarked()) return true;
  const { is } = await peer.propose(entry, PACE.deactivation);
  return is === 'done' || isMarked();
}

export type Read<T> =
  | { readonly is: 'read'; readonly parts: readonly T[] }
  | { readonly is: 'failed'; readonly error: string }
  /** A shard has no replica at all: the server does not survive the question. */
  | { readonly is: 'closed' };

/** From one replica of each shard: its own if it has one, else any that answers. */
export async function read<T>(peer: Peer, collection: Collection, look: (points: Points) => T): Promise<Read<T>> {
  const parts: T[] = [];
  for (const shard of collection.shards) {
    const name = shardName(collection, shard.id);
    const errors: string[] = [];
    const readable = peersIn(shard, 'Active', 'ActiveRead').toSorted(
      (a, b) => Number(b === peer.id) - Number(a === peer.id),
    );
    if (Object.keys(shard.replicas).length === 0) return { is: 'closed' };
    let part: { readonly value: T } | undefined;
    for (const id of readable) {
      const called = await peer.call(id, (target) => {
        const points = target.disk.points(name);
        if (!points) throw new ShardError('Not found: the shard is not here');
        return look(points);
      });
      if (called.is === 'answered') {
        part = called;
        break;
      }
      errors.push(called.error);
    }
    if (!part) {
      const count = errors.length;
      const details = count > 0 ? `:\n  ${errors.join('\n  ')}` : '';
      return { is: 'failed', error: `Service internal error: ${count} of ${count} read operations failed${details}` };
    }
    parts.push(part.value);
  }
  return { is: 'read', parts };
}
