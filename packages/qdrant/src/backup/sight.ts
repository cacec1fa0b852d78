/** Where a collection's shards can be copied from, put together from what each peer says. */
import type { QdrantCluster } from '../kinds/index.ts';
import type { PeerSeen, PeerView } from './observe.ts';

export type Sight =
  | { readonly is: 'unknown'; readonly because: string }
  /** All members say that there is no such collection. */
  | { readonly is: 'missing' }
  | {
      readonly is: 'clear';
      readonly shards: readonly ShardSeen[];
      /** How many there should be. */
      readonly shardCount: number;
      /** Shards on their way from one peer to another. */
      readonly travelling: readonly number[];
      /** A member, for what all of them agree on. */
      readonly pod: string;
    };

export interface ShardSeen {
  readonly id: number;
  readonly key: string | number | undefined;
  /** The pods whose peer has a copy and is alive: it answers for itself, and nobody doubts that its copy is active. */
  readonly live: readonly string[];
}

interface Member {
  readonly pod: string;
  readonly view: PeerView;
}

/** Only members count: who was removed goes on calling its old copies active. */
export function sightOf({ status }: QdrantCluster, peers: readonly PeerSeen[]): Sight {
  const ids = new Set(status?.peers?.map(({ id }) => id));
  const members = peers.flatMap(({ pod, view }): Member[] => {
    if (!view.known || !ids.has(view.value.id)) return [];
    const { isVoter, leader, consensus } = view.value;
    return isVoter && leader !== undefined && consensus.is === 'working' ? [{ pod, view: view.value }] : [];
  });
  const [first] = members;
  if (!first) return { is: 'unknown', because: silenceOf(peers) };
  const without = members.filter(({ view }) => view.distribution === undefined);
  if (without.length === members.length) return { is: 'missing' };
  // One of them has not heard yet that it was created, or deleted.
  const [late] = without;
  if (late) return { is: 'unknown', because: `${late.pod} does not know the collection, others do` };
  const distributions = members.flatMap(({ view: { distribution } }) => (distribution ? [distribution] : []));
  const replicas = distributions.flatMap((one) => one.replicas);
  const found = [...new Set(replicas.map(({ shard }) => shard))].toSorted((a, b) => a - b);
  return {
    is: 'clear',
    shards: found.map((id) => ({
      id,
      key: replicas.find(({ shard, key }) => shard === id && key !== undefined)?.key,
      live: liveCopies(id, members),
    })),
    shardCount: Math.max(...distributions.map((one) => one.shardCount)),
    travelling: [...new Set(distributions.flatMap((one) => one.transfers.map(({ shard }) => shard)))],
    pod: first.pod,
  };
}

const liveCopies = (shard: number, members: readonly Member[]): readonly string[] =>
  members.filter(({ view }) => members.every((other) => isActive(shard, view.id, other))).map(({ pod }) => pod);

const isActive = (shard: number, peer: string, { view: { distribution } }: Member): boolean =>
  distribution?.replicas.some((one) => one.shard === shard && one.peer === peer && one.state === 'Active') ?? false;

function silenceOf(peers: readonly PeerSeen[]): string {
  const silent = peers.find(({ view }) => !view.known)?.view;
  return silent?.known === false ? silent.because : 'no member of the cluster answers';
}
