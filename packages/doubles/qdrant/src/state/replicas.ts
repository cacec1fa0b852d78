import {
  type Collection,
  type PeerId,
  type ReplicaState,
  type Shard,
  type Transfer,
  type TransferMethod,
  without,
} from './cluster-state.ts';

/** How a replica stands while it is being filled. */
export const FILLING: Readonly<Record<TransferMethod, ReplicaState>> = {
  stream_records: 'Partial',
  snapshot: 'Recovery',
  wal_delta: 'Recovery',
};

const withShard = (collection: Collection, id: number, change: (shard: Shard) => Shard): Collection => ({
  ...collection,
  shards: collection.shards.map((shard) => (shard.id === id ? change(shard) : shard)),
});

export const withReplica = (collection: Collection, id: number, peer: PeerId, state: ReplicaState): Collection =>
  withShard(collection, id, (shard) => ({ ...shard, replicas: { ...shard.replicas, [peer]: state } }));

/** Takes a replica away, and ends what it was part of. */
export function withoutReplica(collection: Collection, id: number, peer: PeerId): Collection {
  const bare = withShard(collection, id, (shard) => ({ ...shard, replicas: without(shard.replicas, peer) }));
  return withoutTransfersOf(bare, id, peer);
}

/** A replica that leaves or dies: what was filled from it is as after an abort; what filled it is just over. */
export function withoutTransfersOf(collection: Collection, id: number, peer: PeerId): Collection {
  const ended = collection.transfers.filter((one) => one.shard === id && (one.from === peer || one.to === peer));
  return ended.reduce(
    (left, transfer) => (transfer.to === peer ? withoutTransfer(left, transfer) : aborted(left, transfer)),
    collection,
  );
}

export const withoutTransfer = (collection: Collection, { serial }: Transfer): Collection => ({
  ...collection,
  transfers: collection.transfers.filter((one) => one.serial !== serial),
});

/**
 * A move takes its target with it, even one that was a good replica before. A replication leaves a dead replica, which its
 * peer then fills by itself: an abort does not cancel it.
 */
export function aborted(collection: Collection, transfer: Transfer): Collection {
  const { shard, to, sync } = transfer;
  const over = withoutTransfer(collection, transfer);
  const hasTarget = over.shards.some(({ id, replicas }) => id === shard && to in replicas);
  if (!hasTarget) return over;
  return sync ? withReplica(over, shard, to, 'Dead') : withoutReplica(over, shard, to);
}
