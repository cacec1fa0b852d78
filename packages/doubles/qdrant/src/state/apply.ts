import { applyToCollection } from './apply-to-collection.ts';
import { applyToShard } from './apply-to-shard.ts';
import { type ClusterState, type PeerId, without } from './cluster-state.ts';
import { type Applied, done, type Entry } from './entry.ts';
import { withoutReplica } from './replicas.ts';

/**
 * What an entry of the log makes of the state. Pure; all peers come to the same. It is also asked what *would* come of an
 * entry on a peer's own view, which is how the server refuses a request before consensus hears of it.
 */
export function apply(state: ClusterState, entry: Entry): Applied {
  switch (entry.do) {
    case 'add-peer': {
      const peers = without(state.peers, entry.replaces ?? '');
      const isNew = !(entry.peer in state.peers);
      const learners = [...learnersBut(state, entry.replaces), ...(isNew ? [entry.peer] : [])];
      return done({ ...state, peers: { ...peers, [entry.peer]: entry.uri }, learners });
    }
    case 'promote-peer':
      return done({ ...state, learners: learnersBut(state, entry.peer) });
    // Whether the peer still has shards was asked where the request came in, and is not asked again: an entry that waited
    // for its quorum takes away what the peer got meanwhile.
    case 'remove-peer':
      return done(withoutPeer(state, entry.peer));
    case 'put-metadata': {
      const metadata = { ...state.metadata, [entry.key]: entry.value };
      return done({ ...state, metadata: entry.value === null ? without(metadata, entry.key) : metadata });
    }
    case 'create-collection':
    case 'update-collection':
    case 'delete-collection':
    case 'change-aliases':
    case 'put-index':
    case 'delete-index':
    case 'put-vector':
    case 'delete-vector':
      return applyToCollection(state, entry);
    case 'start-transfer':
    case 'restart-transfer':
    case 'recovered-transfer':
    case 'finish-transfer':
    case 'abort-transfer':
    case 'set-replica':
    case 'drop-replica':
    case 'create-shard-key':
    case 'drop-shard-key':
      return applyToShard(state, entry);
  }
}

const learnersBut = ({ learners = [] }: ClusterState, peer: PeerId | undefined): readonly PeerId[] =>
  learners.filter((one) => one !== peer);

function withoutPeer(state: ClusterState, peer: PeerId): ClusterState {
  const collections = Object.entries(state.collections).map(([name, collection]) => {
    const held = collection.shards.filter(({ replicas }) => peer in replicas);
    return [name, held.reduce((left, { id }) => withoutReplica(left, id, peer), collection)] as const;
  });
  const learners = learnersBut(state, peer);
  return { ...state, peers: without(state.peers, peer), learners, collections: Object.fromEntries(collections) };
}
