import { type Json, type JsonObject, present } from '../json.ts';
import { type Peer, shardName } from '../peer/index.ts';
import { isAtLeast } from '../settings.ts';
import { hasReplicas, isLearner, resolve } from '../state/index.ts';
import { plain, Refused, result } from './answer.ts';
import { type Call, del, get, order, put, type Route } from './route.ts';

export const membershipRoutes: readonly Route[] = [
  get('/cluster', ({ peer }) => result(peer.isClustered ? cluster(peer) : { status: 'disabled' })),
  del('/cluster/peer/{id}', removePeer),
  order('/cluster/recover', (call) => {
    call.requireCluster();
    return result(true);
  }),
  get('/cluster/telemetry', async (call) => {
    if (!isAtLeast(call.peer.version, '1.17.0')) return plain(404, '', {});
    if (!call.peer.isClustered) throw new Refused(500, 'Service internal error: Could not get telemetry from cluster');
    return result(await clusterTelemetry(call));
  }),
  get('/cluster/metadata/keys', (call) => {
    call.requireCluster();
    return result(Object.keys(call.peer.view.metadata));
  }),
  get('/cluster/metadata/keys/{key}', (call) => {
    call.requireCluster();
    return result(call.peer.view.metadata[call.param('key')] ?? null);
  }),
  put('/cluster/metadata/keys/{key}', (call) => {
    call.requireCluster();
    void call.peer.propose({ do: 'put-metadata', key: call.param('key'), value: call.json ?? null });
    return result(true);
  }),
  del('/cluster/metadata/keys/{key}', (call) => {
    call.requireCluster();
    void call.peer.propose({ do: 'put-metadata', key: call.param('key'), value: null });
    return result(true);
  }),
];

async function removePeer(call: Call) {
  const { peer, timeout } = call;
  call.requireCluster();
  const id = call.param('id');
  if (!/^\d+$/.test(id)) return plain(404, `can not parse "${id}" to a u64`);
  if (call.query.get('force') !== 'true' && hasReplicas(peer.view, id)) {
    throw new Refused(400, `Bad request: Cannot remove peer ${id} as there are shards on it`);
  }
  // One that nobody knows is as good as removed.
  if (!(id in peer.view.peers)) return result(true);
  return result(call.valueOf(await peer.propose({ do: 'remove-peer', peer: id }, timeout * 1_000)));
}

function cluster(peer: Peer): Json {
  const peers = Object.entries(peer.view.peers).map(([id, uri]) => [id, { uri }] as const);
  return {
    status: 'enabled',
    peer_id: BigInt(peer.id),
    peers: Object.fromEntries(peers),
    raft_info: raftInfo(peer),
    consensus_thread_status: consensusStatus(peer),
    message_send_failures: sendFailures(peer),
  };
}

function raftInfo(peer: Peer): JsonObject {
  const { node } = peer;
  const captor = peer.cluster.captorOf(peer);
  const leader = captor?.id ?? node.leader;
  return {
    term: captor?.node.term ?? node.term,
    commit: node.record.applied.index,
    pending_operations: node.pendingOperations,
    leader: leader === undefined ? null : BigInt(leader),
    role: captor ? 'Follower' : (node.role ?? null),
    is_voter: !node.record.isRemoved && !isLearner(peer.view, peer.id),
  };
}

function consensusStatus({ node, clock }: Peer): JsonObject {
  const { stoppedSince } = node;
  if (stoppedSince === undefined) {
    return { consensus_thread_status: 'working', last_update: new Date(clock.now()).toISOString() };
  }
  const { broken } = node.record.stored;
  if (broken === undefined) return { consensus_thread_status: 'stopped' };
  const { attempt, waits } = attemptAt(clock.now() - stoppedSince);
  const err = `${broken}; restarting consensus thread (attempt ${attempt}, next attempt in ${waits} sec)`;
  return { consensus_thread_status: 'stopped_with_err', err };
}

/** It is tried again after 1, 2, 4 … 300 seconds, in vain. */
function attemptAt(elapsedMs: number): { readonly attempt: number; readonly waits: number } {
  let [attempt, waits, due] = [1, 1, 1_000];
  while (elapsedMs >= due) {
    attempt++;
    waits = Math.min(waits * 2, 300);
    due += waits * 1_000;
  }
  return { attempt, waits };
}

/** Only who has something to send notices that it does not arrive. */
function sendFailures({ node, view, clock }: Peer): JsonObject {
  if (node.role !== 'Leader' && node.role !== 'Candidate') return {};
  const failures = [...node.silentSince].flatMap(([id, since]) => {
    const uri = view.peers[id];
    if (uri === undefined) return [];
    const failure = {
      count: 1 + Math.floor((clock.now() - since) / 200),
      latest_error: `Error in closure supplied to transport channel pool: status: Unavailable, message: "Failed to connect to ${uri}, error: transport error"`,
      latest_error_timestamp: new Date(clock.now()).toISOString(),
    };
    return [[uri, failure] as const];
  });
  return Object.fromEntries(failures);
}

async function clusterTelemetry({ peer, query }: Call): Promise<Json> {
  const { view } = peer;
  const asked = await Promise.all(
    Object.entries(view.peers).map(async ([id, uri]) => ({ id, uri, told: await peer.call(id, (target) => target) })),
  );
  const answering = new Map(
    asked.flatMap(({ id, told }) => (told.is === 'answered' ? [[id, told.value] as const] : [])),
  );
  const isDetailed = Number(query.get('details_level') ?? 0) >= 3;
  const collections = Object.keys(view.collections).map(
    (name) => [name, isDetailed ? collectionTelemetry(peer, name, answering) : { id: name }] as const,
  );
  const peers = asked.map(({ id, uri }) => {
    const target = answering.get(id);
    return [id, { uri, responsive: target !== undefined, details: target ? details(target) : null }] as const;
  });
  return {
    collections: Object.fromEntries(collections),
    cluster: { enabled: true, number_of_peers: asked.length, peers: Object.fromEntries(peers) },
  };
}

function details(peer: Peer): Json {
  const { role, is_voter, term, commit, pending_operations } = raftInfo(peer);
  return present({
    version: peer.version,
    role,
    is_voter,
    term,
    commit,
    num_pending_operations: pending_operations,
    consensus_thread_status: consensusStatus(peer),
  });
}

function collectionTelemetry(peer: Peer, name: string, answering: ReadonlyMap<string, Peer>): Json {
  const collection = resolve(peer.view, name);
  if (!collection) return { id: name };
  const shards = collection.shards.map(({ id, key, replicas }) => ({
    id,
    key: key ?? null,
    replicas: Object.entries(replicas).map(([owner, state]) => {
      const points = answering.get(owner)?.disk.points(shardName(collection, id));
      return present({
        peer_id: BigInt(owner),
        state,
        status: points && 'green',
        total_optimized_points: points && 0,
        num_points: points?.size,
        num_vectors: points?.size,
        vectors_size_bytes: points && points.size * 16,
        payloads_size_bytes: points && points.size * 64,
      });
    }),
  }));
  const transfers = collection.transfers.map(({ shard, from, to, sync, method }) => ({
    shard_id: shard,
    from: BigInt(from),
    to: BigInt(to),
    sync,
    method,
  }));
  return present({ id: name, shards, shard_transfers: transfers.length > 0 ? transfers : undefined });
}
