/**
 * What several peers say, put together. Each has its own view, and each view can be old, cut off, or that of a peer that is
 * no member any more. A leader that lost its followers goes on calling itself one, and a dead peer's replicas are called
 * active until somebody writes: so a member is who is listed *and* answers for itself, and a copy is there if everybody says
 * so and its own peer answers.
 */
import type { QdrantCluster } from '../../kinds/index.ts';
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
  /** Whom most follow, if all members agree on who they are. */
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
  /** How many points it has, as whoever has the most of them says; undefined if nobody does. */
  readonly points: number | undefined;
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
  const [first, second] = answering.filter(isFollowed(answering));
  const listed = first?.view.members ?? new Map<string, string>();
  const members = answering.filter(({ id }) => listed.has(id));
  const outside = first ? answering.filter(({ id }) => !listed.has(id)) : [];
  const removed = outside.filter(wasMember(cluster, listed));
  const strangers = outside.filter(({ view }) => view.isVoter && !knowsAny(view, listed));
  const uncounted = outside.find((one) => !removed.includes(one) && !strangers.includes(one));
  const stopped = answering
    // That of one that was removed has nothing left to do; it knows that before anybody is seen to lead the others.
    .filter((one) => one.view.isVoter && !removed.includes(one))
    .flatMap(({ pod, view: { consensus } }) =>
      consensus.is === 'stopped' ? [{ pod, because: consensus.because }] : [],
    );
  const discord = discordOf(first, second, uncounted, members, answering);
  const doubt = discord ?? unreadIn(members);
  return {
    members,
    missing: discord === undefined ? missingOf(cluster, listed, members) : [],
    removed,
    strangers,
    leader: discord === undefined ? first : undefined,
    doubt,
    stopped,
    shards: doubt === undefined ? shardsOf(members) : [],
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

/**
 * Who was removed knows it, if it lived then. Otherwise it counts on the others, and nobody leads it; but so do those whom a
 * peer left behind that was started over by itself, and they are remembered.
 */
const wasMember =
  ({ status }: QdrantCluster, listed: ReadonlyMap<string, string>) =>
  ({ id, view }: SeenPeer): boolean =>
    !view.isVoter ||
    (view.leader === undefined && knowsAny(view, listed) && !status?.peers?.some((peer) => peer.id === id));

const knowsAny = (view: PeerView, listed: ReadonlyMap<string, string>): boolean =>
  [...listed.keys()].some((id) => view.members.has(id));

/** Why it is not clear who the members are. */
function discordOf(
  leader: SeenPeer | undefined,
  second: SeenPeer | undefined,
  uncounted: SeenPeer | undefined,
  members: readonly SeenPeer[],
  answering: readonly SeenPeer[],
): string | undefined {
  if (!leader) return answering.length === 0 ? 'no peer answers' : 'no peer is followed by most of the others';
  if (second) return `${leader.pod} and ${second.pod} both lead`;
  if (uncounted) return `${uncounted.pod} counts on ${leader.pod}, which does not know it`;
  for (const { pod, view } of members) {
    if (view.leader !== leader.id) return `${pod} does not follow ${leader.pod}`;
    if (!isSameKeys(view.members, leader.view.members)) return `${pod} and ${leader.pod} know different members`;
  }
  return undefined;
}

/** Half of what is known of shards would be mistaken for shards that are gone. */
function unreadIn(members: readonly SeenPeer[]): string | undefined {
  const views = members.map(({ view }) => view.distributions);
  const unread = views.find((one) => !one.known);
  return unread?.known === false ? unread.because : undefined;
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
  const counts = replicas.flat().flatMap(({ points }) => points ?? []);
  const points = counts.length === 0 ? undefined : Math.max(...counts);
  return { collection, id, copies, isTravelling: transfers.length > 0, points };
}

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
