import { create, defaultsOf, place } from '../creation.ts';
import { isObject, type Json, type JsonObject, numberAt, objectAt, present } from '../json.ts';
import { shardName } from '../peer/index.ts';
import { isAtLeast } from '../settings.ts';
import {
  type Entry,
  formatError,
  type PeerId,
  placement,
  type ReplicaState,
  type ShardKey,
  TRANSFER_METHODS,
  type TransferMethod,
  validationError,
} from '../state/index.ts';
import { type Answer, Refused, refuse, result } from './answer.ts';
import { type Call, get, post, put, type Route } from './route.ts';

export const shardRoutes: readonly Route[] = [
  get('/collections/{name}/cluster', (call) => result(distribution(call))),
  post('/collections/{name}/cluster', operate),
  get('/collections/{name}/shards', ({ collection }) => {
    const keys = new Set(collection.shards.flatMap(({ key }) => (key === undefined ? [] : [key])));
    return result({ shard_keys: [...keys].map((key) => ({ key })) });
  }),
  put('/collections/{name}/shards', async (call) => result(await createKey(call, call.body))),
  post('/collections/{name}/shards/delete', async (call) => result(await dropKey(call, call.body))),
];

function distribution({ peer, collection }: Call): Json {
  const local = collection.shards.flatMap(({ id, key, replicas }) => {
    const state = replicas[peer.id];
    if (state === undefined) return [];
    const points_count = peer.disk.points(shardName(collection, id))?.size ?? 0;
    return [present({ shard_id: id, shard_key: key, points_count, state })];
  });
  const remote = collection.shards.flatMap(({ id, key, replicas }) =>
    Object.entries(replicas)
      .filter(([owner]) => owner !== peer.id)
      .map(([owner, state]) => present({ shard_id: id, shard_key: key, peer_id: BigInt(owner), state })),
  );
  const transfers = collection.transfers.map((transfer) => {
    const { shard, from, to, sync, method } = transfer;
    const comment = peer.commentOn(transfer);
    return present({ shard_id: shard, from: BigInt(from), to: BigInt(to), sync, method, comment });
  });
  return {
    peer_id: BigInt(peer.id),
    shard_count: collection.shards.length,
    local_shards: local,
    remote_shards: remote,
    shard_transfers: transfers,
  };
}

const NO_OPERATION = formatError('data did not match any variant of untagged enum ClusterOperations');

async function operate(call: Call): Promise<Answer> {
  const { body } = call;
  call.requireCluster();
  const { name } = call.collection;
  const [operation = '', ...more] = Object.keys(body);
  const asked = body[operation];
  if (more.length > 0 || !isObject(asked)) return refuse(NO_OPERATION);
  switch (operation) {
    case 'move_shard':
      return result(await call.agree(transferOf(call, operation, asked, false)));
    case 'replicate_shard':
      return result(await call.agree(transferOf(call, operation, asked, true)));
    case 'abort_transfer':
      return result(await call.agree({ do: 'abort-transfer', collection: name, ...betweenPeers(asked) }));
    case 'restart_transfer': {
      const method = methodOf(asked) ?? refuse(NO_OPERATION);
      return result(await call.agree({ do: 'restart-transfer', collection: name, ...betweenPeers(asked), method }));
    }
    case 'drop_replica': {
      const [shard, peer] = [shardId(asked), peerIdAt(asked, 'peer_id')];
      if (!(peer in call.peer.view.peers) && !isHolder(call, shard, peer)) {
        throw new Refused(400, `Bad request: Peer ${peer} does not exist`);
      }
      return result(await call.agree({ do: 'drop-replica', collection: name, shard, peer }));
    }
    case 'create_sharding_key':
      return result(await createKey(call, asked));
    case 'drop_sharding_key':
      return result(await dropKey(call, asked));
    case 'start_resharding':
      throw new Refused(400, 'Bad request: resharding is only supported in Qdrant Cloud');
    case 'abort_resharding':
      throw new Refused(400, `Bad request: resharding is not in progress for collection ${name}`);
    default:
      return refuse(NO_OPERATION);
  }
}

const isHolder = ({ collection }: Call, shard: number, peer: PeerId) =>
  collection.shards.some(({ id, replicas }) => id === shard && peer in replicas);

function transferOf({ peer, collection }: Call, operation: string, asked: JsonObject, sync: boolean): Entry {
  const between = betweenPeers(asked);
  if (between.from === between.to) {
    const what = `cannot transfer shard to itself, "to_peer_id" must be different than ${between.from} in "from_peer_id"`;
    return refuse(validationError('JSON body', `${operation}.to_peer_id`, what));
  }
  const usual = isAtLeast(peer.version, '1.18.0') ? 'snapshot' : 'stream_records';
  return { do: 'start-transfer', collection: collection.name, ...between, sync, method: methodOf(asked) ?? usual };
}

const betweenPeers = (asked: JsonObject) => ({
  shard: shardId(asked),
  from: peerIdAt(asked, 'from_peer_id'),
  to: peerIdAt(asked, 'to_peer_id'),
});

const shardId = (asked: JsonObject): number => numberAt(asked, 'shard_id') ?? refuse(NO_OPERATION);

/** A number; one in quotes is none. */
function peerIdAt(asked: JsonObject, key: string): PeerId {
  const id = asked[key];
  return typeof id === 'number' || typeof id === 'bigint' ? String(id) : refuse(NO_OPERATION);
}

function methodOf(asked: JsonObject): TransferMethod | undefined {
  const { method = null } = asked;
  if (method === null) return undefined;
  return TRANSFER_METHODS.find((one) => one === method) ?? refuse(NO_OPERATION);
}

async function createKey(call: Call, asked: JsonObject): Promise<boolean> {
  const { peer, collection } = call;
  const params = objectAt(collection.config, 'params');
  if (params['sharding_method'] !== 'custom') {
    throw new Refused(400, 'Bad request: Shard Key cannot be created with Auto sharding method');
  }
  const shards = numberAt(asked, 'shards_number') ?? numberAt(params, 'shard_number') ?? 1;
  const factor =
    numberAt(asked, 'replication_factor') ??
    numberAt(params, 'replication_factor') ??
    defaultsOf(peer).replicationFactor;
  const wanted = Array.isArray(asked['placement']) ? asked['placement'].map(String) : undefined;
  const state: ReplicaState = asked['initial_state'] === 'Partial' ? 'Partial' : 'Initializing';
  const entry = {
    do: 'create-shard-key',
    collection: collection.name,
    key: keyAt(asked),
    placement: wanted ? placement(wanted, shards, factor, peer.random) : place(peer, shards, factor),
    state,
  } as const;
  return call.valueOf(await create(peer, entry, call.timeout * 1_000));
}

const dropKey = (call: Call, asked: JsonObject): Promise<boolean> =>
  call.agree({ do: 'drop-shard-key', collection: call.collection.name, key: keyAt(asked) });

function keyAt(asked: JsonObject): ShardKey {
  const key = asked['shard_key'];
  return typeof key === 'string' || typeof key === 'number' ? key : refuse(NO_OPERATION);
}
