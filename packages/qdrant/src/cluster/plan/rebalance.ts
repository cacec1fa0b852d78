import { lightest } from './repair.ts';
import type { SeenPeer, Shard } from './sight.ts';
import { copiesOn, keepers, loadOf, type Situation, throughLeader } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** From the peer with the most to the one with the least, one shard at a time. Only while there is nothing else to do. */
export function rebalancing(situation: Situation): readonly ClusterStep[] {
  const via = throughLeader(situation);
  const { strategy = 'by_count' } = situation.cluster.spec.rebalance ?? {};
  if (via === undefined || strategy === 'disabled') return [];
  const found = strategy === 'by_size' ? bySize(situation) : byCount(situation);
  if (!found) return [];
  const { shard, from, to, because } = found;
  const { collection, id } = shard;
  return [{ do: 'move-replica', because, via, collection, shard: id, from: from.id, to: to.id }];
}

interface Move {
  readonly shard: Shard;
  readonly from: SeenPeer;
  readonly to: SeenPeer;
  readonly because: string;
}

/** For as long as they differ by two shards: then each move makes the sum of squares smaller, so it ends. */
function byCount(situation: Situation): Move | undefined {
  const peers = lightest(keepers(situation), situation);
  const [to, from] = [peers[0], peers.at(-1)];
  if (!to || !from || loadOf(situation, from.id) - loadOf(situation, to.id) < 2) return undefined;
  const shard = situation.sight.shards.find((one) => canMove(one, from, to));
  const because = `${from.pod} has ${loadOf(situation, from.id)} shards, ${to.pod} has ${loadOf(situation, to.id)}`;
  return shard && { shard, from, to, because };
}

/** What is less apart is not worth the way. */
const FEWEST_POINTS = 10_000;

/** For as long as one has twice the points of another: the largest shard that is smaller than the difference, so it ends. */
function bySize(situation: Situation): Move | undefined {
  const sizes = keepers(situation).map((peer) => ({ peer, points: pointsOn(situation, peer) }));
  const [least, most] = [
    sizes.toSorted((a, b) => a.points - b.points || a.peer.ordinal - b.peer.ordinal)[0],
    sizes.toSorted((a, b) => b.points - a.points || a.peer.ordinal - b.peer.ordinal)[0],
  ];
  if (!least || !most) return undefined;
  const [from, to, difference] = [most.peer, least.peer, most.points - least.points];
  if (difference < FEWEST_POINTS || most.points < 2 * least.points) return undefined;
  const [shard] = situation.sight.shards
    .filter((one) => canMove(one, from, to) && pointsOf(one) > 0 && pointsOf(one) < difference)
    .toSorted((a, b) => pointsOf(b) - pointsOf(a));
  return shard && { shard, from, to, because: `${from.pod} has ${most.points} points, ${to.pod} has ${least.points}` };
}

const pointsOf = ({ points }: Shard): number => points ?? 0;

const pointsOn = (situation: Situation, { id }: SeenPeer): number =>
  copiesOn(situation, id).reduce((sum, shard) => sum + pointsOf(shard), 0);

const canMove = ({ copies }: Shard, from: SeenPeer, to: SeenPeer): boolean =>
  copies.some(({ peer, isLive }) => peer === from.id && isLive) && !copies.some(({ peer }) => peer === to.id);
