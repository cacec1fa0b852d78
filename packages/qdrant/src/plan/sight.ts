/**
 * What several peers say, put together. Each has its own view, and each view can be old, cut off, or that of a peer that is
 * no member any more. A leader that lost its followers goes on calling itself one, and a dead peer's replicas are called
 * active until somebody writes: so a member is who is listed *and* answers for itself, and a copy is there if everybody says
 * so and its own peer answers.
 */
import type { QdrantCluster } from '../kinds/index.ts';
import { ordinalOf, podAt } from '../objects/index.ts';
import type { Observed, PeerView, PodSeen } from '../observe.ts';

export interface Sight {
  /** Members that answer, by their ordinals. */
  readonly members: readonly SeenPeer[];
  /** Members that do not. */
  readonly missing: readonly Missing[];
  /** Peers that were members once: they answer, and count for nothing. */
  readonly removed: readonly SeenPeer[];
  /** Peers of another cluster, under the names of this one. */
  readonly strangers: readonly SeenPeer[];
  readonly leader: SeenPeer | undefined;
  /** Why nothing can be decided about members and shards; undefined if something can. */
  readonly doubt: string | undefined;
  /** Peers whose consensus has stopped, and why. */
  readonly stopped: readonly { readonly pod: string; readonly because: string }[];
  /** Known if there is no doubt. */
  readonly shards: readonly Shard[];
}

export interface SeenPeer {
  readonly id: string;
  readonly ordinal: number;
  readonly pod: string;
  readonly view: PeerView;
}

export interface Missing {
  readonly id: string;
  readonly uri: string;
  /** The pod that its URI leads to. */
  readonly pod: string | undefined;
  readonly ordinal: number | undefined;
}

export interface Shard {
  readonly collection: string;
  readonly id: number;
  /** Every copy that anybody knows of. */
  readonly copies: readonly Copy[];
  readonly isTravelling: boolean;
}

export interface Copy {
  readonly peer: string;
  /** Everybody calls it active, and its peer answers. */
  readonly isLive: boolean;
  /** Everybody calls it active. */
  readonly isActive: boolean;
}

export function sightOf(cluster: QdrantCluster, { pods }: Observed): Sight {
  const answering = pods.flatMap(seen);
  const leaders = answering.filter(isFollowed(answering));
  const [leader] = leaders;
  const listed = leader?.view.members ?? new Map<string, string>();
  const members = answering.filter(({ id }) => listed.has(id));
  const outside = answering.filter(({ id }) => !listed.has(id));
  const removed = leader ? outside.filter(wasMember(listed)) : [];
  const strangers = leader ? outside.filter((one) => !removed.includes(one)) : [];
  const stopped = answering
    .filter((one) => !removed.includes(one) && one.view.consensus.is === 'stopped')
    .map(({ pod, view }) => ({ pod, because: view.consensus.is === 'stopped' ? view.consensus.because : '' }));
  const doubt = doubtOf(leaders, members, answering);
  const shards = doubt === undefined ? shardsOf(members) : [];
  return {
    members,
    missing: leader ? missingOf(cluster, listed, members) : [],
    removed,
    strangers,
    leader,
    doubt,
    stopped,
    shards,
  };
}

const seen = ({ ordinal, pod, peer }: PodSeen): SeenPeer[] =>
  peer.known ? [{ id: peer.value.id, ordinal, pod: pod.metadata.name, view: peer.value }] : [];

/**
 * A leader, if most of those that it takes for members answer and follow it. Its own word is worth nothing: one that lost
 * all others still has it.
 */
const isFollowed =
  (answering: readonly SeenPeer[]) =>
  ({ id, view }: SeenPeer): boolean => {
    if (view.leader !== id || view.consensus.is !== 'working' || !view.isVoter) return false;
    const followers = answering.filter((one) => view.members.has(one.id) && one.view.leader === id);
    return followers.length * 2 > view.members.size;
  };

/** One that was removed knows it, if it lived then; else it knows the others, and nobody leads it. */
const wasMember =
  (listed: ReadonlyMap<string, string>) =>
  ({ view }: SeenPeer): boolean =>
    !view.isVoter || [...listed.keys()].some((id) => view.members.has(id));

function doubtOf(
  leaders: readonly SeenPeer[],
  members: readonly SeenPeer[],
  answering: readonly SeenPeer[],
): string | undefined {
  const [leader, second] = leaders;
  if (!leader) return answering.length === 0 ? 'no peer answers' : 'no peer is followed by most of the others';
  if (second) return `${leader.pod} and ${second.pod} both lead`;
  for (const { pod, view } of members) {
    if (view.leader !== leader.id) return `${pod} does not follow ${leader.pod}`;
    if (!isSameKeys(view.members, leader.view.members)) return `${pod} and ${leader.pod} know different members`;
  }
  return unreadIn(members);
}

function unreadIn(members: readonly SeenPeer[]): string | undefined {
  const unread = members.find(({ view }) => !view.distributions.known);
  return unread && !unread.view.distributions.known ? unread.view.distributions.because : undefined;
}

const isSameKeys = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>) =>
  a.size === b.size && [...a.keys()].every((key) => b.has(key));

function missingOf(
  cluster: QdrantCluster,
  listed: ReadonlyMap<string, string>,
  members: readonly SeenPeer[],
): readonly Missing[] {
  return [...listed]
    .filter(([id]) => !members.some((one) => one.id === id))
    .map(([id, uri]) => {
      const pod = podAt(uri);
      return { id, uri, pod, ordinal: pod === undefined ? undefined : ordinalOf(cluster, pod) };
    });
}

function shardsOf(members: readonly SeenPeer[]): readonly Shard[] {
  const shards = new Map<string, Shard>();
  const views = members.flatMap(({ view }) => (view.distributions.known ? [view.distributions.value] : []));
  for (const view of views) {
    for (const { collection, replicas, transfers } of view) {
      for (const shard of new Set([...replicas, ...transfers].map((one) => one.shard))) {
        const key = JSON.stringify([collection, shard]);
        if (!shards.has(key)) shards.set(key, shardIn(views, collection, shard, members));
      }
    }
  }
  return [...shards.values()].toSorted((a, b) => compare(a.collection, b.collection) || a.id - b.id);
}

type View = Extract<PeerView['distributions'], { readonly known: true }>['value'];

function shardIn(views: readonly View[], collection: string, id: number, members: readonly SeenPeer[]): Shard {
  const told = views.map((view) => view.find((one) => one.collection === collection));
  const replicas = told.map((one) => one?.replicas.filter(({ shard }) => shard === id) ?? []);
  const transfers = told.flatMap((one) => one?.transfers.filter(({ shard }) => shard === id) ?? []);
  // Where a shard is on its way to is a place that holds it, whether or not the replica is listed yet.
  const holders = new Set([...replicas.flat().map(({ peer }) => peer), ...transfers.map(({ to }) => to)]);
  const copies = [...holders].toSorted(compare).map((peer) => {
    const isActive = replicas.every((view) => view.some((one) => one.peer === peer && one.state === 'Active'));
    return { peer, isActive, isLive: isActive && members.some((one) => one.id === peer) };
  });
  return { collection, id, copies, isTravelling: transfers.length > 0 };
}

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
