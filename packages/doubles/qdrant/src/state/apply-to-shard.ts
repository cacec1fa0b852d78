import { type ClusterState, type Collection, peersIn, type Shard, type Transfer } from './cluster-state.ts';
import { type Applied, badRequest, done, noCollection, refused, type ShardEntry, type TransferKey } from './entry.ts';
import { aborted, FILLING, withoutReplica, withoutTransfer, withoutTransfersOf, withReplica } from './replicas.ts';

export function applyToShard(state: ClusterState, entry: ShardEntry): Applied {
  const collection = state.collections[entry.collection];
  if (!collection) return noCollection(state, entry.collection);
  switch (entry.do) {
    case 'start-transfer':
      return startTransfer(state, collection, entry);
    case 'restart-transfer':
    case 'recovered-transfer':
    case 'finish-transfer':
    case 'abort-transfer':
      return changeTransfer(state, collection, entry);
    case 'set-replica':
      return setReplica(state, collection, entry);
    case 'drop-replica':
      return dropReplica(state, collection, entry);
    case 'create-shard-key':
      return createShardKey(state, collection, entry);
    case 'drop-shard-key': {
      const shards = collection.shards.filter(({ key }) => key !== entry.key);
      const transfers = collection.transfers.filter(({ shard }) => shards.some(({ id }) => id === shard));
      return done(withCollection(state, { ...collection, shards, transfers }));
    }
  }
}

type Of<Name extends ShardEntry['do']> = Extract<ShardEntry, { do: Name }>;

export const withCollection = (state: ClusterState, collection: Collection): ClusterState => ({
  ...state,
  collections: { ...state.collections, [collection.name]: collection },
});

function startTransfer(state: ClusterState, collection: Collection, entry: Of<'start-transfer'>): Applied {
  const { shard: id, from, to, sync, method } = entry;
  if (method === undefined) {
    return {
      is: 'broken',
      because: `Shard transfer ${id}:${from} -> ${to} has no method set; the coordinating peer must pick a transfer method before submitting to consensus`,
    };
  }
  const shard = shardOf(collection, id);
  if (!shard) return noShard(state, collection, id);
  for (const peer of [to, from]) if (!(peer in state.peers)) return noPeer(state, peer);
  if (shard.replicas[from] !== 'Active') return badRequest(state, `Shard ${id} is not active on peer ${from}`);
  const other = collection.transfers.find((one) => one.shard === id);
  if (other) return badRequest(state, `Shard ${id} is already involved in transfer ${other.from} -> ${other.to}`);
  // There is no log to continue from on a peer that has nothing yet.
  const used = method === 'wal_delta' && !(to in shard.replicas) ? 'snapshot' : method;
  // That the target may already be a good replica is not looked at: it is emptied and filled again.
  const serial = state.serial + 1;
  const filling = withReplica(collection, id, to, FILLING[used]);
  const transfers = [...collection.transfers, { serial, shard: id, from, to, sync, method: used }];
  return done({ ...withCollection(state, { ...filling, transfers }), serial });
}

function changeTransfer(
  state: ClusterState,
  collection: Collection,
  entry: Of<'restart-transfer' | 'recovered-transfer' | 'finish-transfer' | 'abort-transfer'>,
): Applied {
  const transfer = collection.transfers.find((one) => isSame(one, entry));
  if (!transfer) {
    const { shard, from, to } = entry;
    return refused(
      state,
      404,
      `Not found: Shard transfer ${from} -> ${to} for collection ${collection.name}:${shard} does not exist`,
    );
  }
  switch (entry.do) {
    case 'restart-transfer':
      return restart(state, collection, transfer, entry);
    case 'recovered-transfer':
      return done(withCollection(state, withReplica(collection, transfer.shard, transfer.to, 'Partial')));
    case 'finish-transfer':
      return done(withCollection(state, finished(collection, transfer)));
    case 'abort-transfer':
      return done(withCollection(state, aborted(collection, transfer)));
  }
}

function restart(state: ClusterState, collection: Collection, old: Transfer, entry: Of<'restart-transfer'>): Applied {
  if (entry.method === old.method) {
    const { shard, from, to } = entry;
    return badRequest(
      state,
      `Cannot restart transfer for shard ${shard} from ${from} to ${to}, its configuration did not change`,
    );
  }
  const serial = state.serial + 1;
  const filling = withReplica(withoutTransfer(collection, old), old.shard, old.to, FILLING[entry.method]);
  const transfers = [...filling.transfers, { ...old, serial, method: entry.method }];
  return done({ ...withCollection(state, { ...filling, transfers }), serial });
}

function finished(collection: Collection, transfer: Transfer): Collection {
  const { shard, from, to, sync } = transfer;
  const filled = withReplica(withoutTransfer(collection, transfer), shard, to, 'Active');
  return sync ? filled : withoutReplica(filled, shard, from);
}

function setReplica(state: ClusterState, collection: Collection, entry: Of<'set-replica'>): Applied {
  const { shard: id, peer, to, from } = entry;
  const shard = shardOf(collection, id);
  if (!shard) return noShard(state, collection, id);
  if (from !== undefined && shard.replicas[peer] !== from) {
    return badRequest(state, `Replica ${peer} of shard ${id} has state ${shard.replicas[peer]}, but expected ${from}`);
  }
  const isLastActive = shard.replicas[peer] === 'Active' && peersIn(shard, 'Active').length === 1;
  if (to === 'Dead' && isLastActive) {
    return badRequest(state, `Cannot deactivate the last active replica ${peer} of shard ${id}`);
  }
  const changed = withReplica(collection, id, peer, to);
  return done(withCollection(state, to === 'Dead' ? withoutTransfersOf(changed, id, peer) : changed));
}

function dropReplica(state: ClusterState, collection: Collection, entry: Of<'drop-replica'>): Applied {
  const { shard: id, peer } = entry;
  const shard = shardOf(collection, id);
  if (!shard) return noShard(state, collection, id);
  if (!(peer in shard.replicas)) return badRequest(state, `Peer ${peer} has no replica of shard ${id}`);
  // "Active" is believed, whether or not its peer lives.
  if (peersIn(shard, 'Active').every((one) => one === peer)) {
    return badRequest(state, `Shard ${id} must have at least one active replica after removing ${peer}`);
  }
  return done(withCollection(state, withoutReplica(collection, id, peer)));
}

function createShardKey(state: ClusterState, collection: Collection, entry: Of<'create-shard-key'>): Applied {
  if (collection.shards.some(({ key }) => key === entry.key)) {
    return badRequest(state, `Sharding key ${entry.key} already exists for collection ${collection.name}`);
  }
  // Custom sharding counts from one.
  const first = Math.max(0, ...collection.shards.map(({ id }) => id)) + 1;
  const added = entry.placement.map((peers, at) => ({
    id: first + at,
    key: entry.key,
    replicas: Object.fromEntries(peers.map((peer) => [peer, entry.state])),
  }));
  return done(withCollection(state, { ...collection, shards: [...collection.shards, ...added] }));
}

const shardOf = ({ shards }: Collection, id: number): Shard | undefined => shards.find((shard) => shard.id === id);
const isSame = (one: Transfer, { shard, from, to, serial = one.serial }: TransferKey) =>
  one.shard === shard && one.from === from && one.to === to && one.serial === serial;
const noPeer = (state: ClusterState, peer: string) => badRequest(state, `Peer ${peer} does not exist`);
const noShard = (state: ClusterState, { name }: Collection, id: number) =>
  badRequest(state, `Shard ${id} of ${name} does not exist`);
