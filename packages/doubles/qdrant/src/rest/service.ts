import type { Peer } from '../peer/index.ts';
import { peersIn, shardsOf } from '../state/index.ts';
import { plain, result } from './answer.ts';
import { get, open, type Route } from './route.ts';

const health = () => plain(200, 'healthz check passed');

export const serviceRoutes: readonly Route[] = [
  open('/', ({ peer }) =>
    plain(200, JSON.stringify({ title: 'qdrant - vector search engine', version: peer.version, commit: COMMIT }), {
      'content-type': 'application/json',
    }),
  ),
  // Also without a quorum, with a dead consensus, and on a peer that is no member any more.
  open('/healthz', health),
  open('/livez', health),
  open('/readyz', async ({ peer }) => {
    const isReady = await peer.readiness.ask();
    return isReady ? plain(200, 'all shards are ready') : plain(503, 'some shards are not ready');
  }),
  get('/metrics', ({ peer }) => plain(200, metrics(peer))),
  get('/telemetry', ({ peer }) =>
    result({
      id: `stand-in-${peer.id}`,
      app: { name: 'qdrant', version: peer.version, startup: new Date(peer.startedAt).toISOString() },
      collections: { number_of_collections: Object.keys(peer.view.collections).length },
      cluster: { enabled: peer.isClustered },
    }),
  ),
];

const COMMIT = '0'.repeat(40);

function metrics(peer: Peer): string {
  const { view, node, id } = peer;
  const shards = shardsOf(view);
  const active = shards.map(({ shard }) => peersIn(shard, 'Active').length);
  const dead =
    shards.reduce((sum, { shard }) => sum + Object.keys(shard.replicas).length, 0) - active.reduce((a, b) => a + b, 0);
  const transfers = Object.values(view.collections).flatMap(({ name, transfers }) => [
    `collection_shard_transfer_incoming{id="${name}"} ${transfers.filter(({ to }) => to === id).length}`,
    `collection_shard_transfer_outgoing{id="${name}"} ${transfers.filter(({ from }) => from === id).length}`,
  ]);
  return [
    `app_info{name="qdrant",version="${peer.version}"} 1`,
    `cluster_enabled ${Number(peer.isClustered)}`,
    `cluster_peers_total ${Object.keys(view.peers).length}`,
    `cluster_term ${node.term}`,
    `cluster_commit{peer_id="${id}"} ${node.record.applied.index}`,
    `cluster_pending_operations_total ${node.pendingOperations}`,
    `cluster_voter ${Number(!node.record.isRemoved)}`,
    `cluster_working_state{state="working"} ${Number(!node.isStopped)}`,
    `cluster_working_state{state="stopped"} ${Number(node.isStopped)}`,
    `collections_total ${Object.keys(view.collections).length}`,
    // Of the whole cluster, as this peer believes. Whether the peers behind them live, nobody asks.
    `collection_active_replicas_min ${active.length > 0 ? Math.min(...active) : 0}`,
    `collection_active_replicas_max ${Math.max(0, ...active)}`,
    `collection_dead_replicas ${dead}`,
    ...transfers,
    '',
  ].join('\n');
}
