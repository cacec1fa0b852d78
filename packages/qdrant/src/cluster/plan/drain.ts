import { podName } from '../objects/index.ts';
import type { SeenPeer, Shard } from './sight.ts';
import { copiesOn, factorOf, keepers, loadOf, type Situation } from './situation.ts';
import type { ClusterStep, Through } from './step.ts';

/**
 * How the last peer leaves, in this order and never in another:
 * 1. each of its shards is moved to a keeper that has none, or dropped if every keeper has it or enough of them do;
 * 2. once it is empty for everybody, it is removed from the cluster;
 * 3. once it is no member for anybody, its pod goes;
 * 4. then its volume, which could never join again (`leftovers.ts`).
 * The rules hold each back until the one before is done: all are wanted all the time, so the status says what waits for what.
 */
export function draining(situation: Situation): readonly ClusterStep[] {
  const { cluster, observed, sight, size = 0 } = situation;
  const { set } = observed.children;
  if (!set || size <= cluster.spec.replicas || cluster.spec.suspend) return [];
  const ordinal = size - 1;
  const because = `spec.replicas is ${cluster.spec.replicas}, and there are ${size}`;
  const leaving = sight.members.find((one) => one.ordinal === ordinal);
  const gone = sight.missing.find((one) => one.ordinal === ordinal);
  const via = proposer(situation, ordinal);
  const id = leaving?.id ?? gone?.id;
  return [
    ...(leaving && via
      ? copiesOn(situation, leaving.id).flatMap((shard) => clearing(shard, leaving, via, situation))
      : []),
    ...(id !== undefined && via
      ? [{ do: 'remove-peer' as const, because, via, peer: id, pod: podName(cluster, ordinal) }]
      : []),
    { do: 'scale', because, set, to: ordinal },
  ];
}

/** Who is told what to propose: whoever leads, unless it is the one that leaves. */
function proposer({ cluster, sight }: Situation, ordinal: number): Through | undefined {
  const { leader, members } = sight;
  const peer = leader && leader.ordinal !== ordinal ? leader : members.find((one) => one.ordinal !== ordinal);
  return peer && { cluster, pod: peer.pod };
}

function clearing(shard: Shard, leaving: SeenPeer, via: Through, situation: Situation): readonly ClusterStep[] {
  const { collection, id } = shard;
  const staying = keepers(situation);
  const holders = staying.filter((keeper) => shard.copies.some(({ peer }) => peer === keeper.id));
  const live = shard.copies.filter((copy) => copy.isLive && holders.some((keeper) => keeper.id === copy.peer));
  const own = shard.copies.find(({ peer }) => peer === leaving.id);
  const factor = factorOf(situation, collection);
  const isEnough = holders.length === staying.length || (factor.known && live.length >= factor.value);
  const because = `${leaving.pod} is to leave`;
  const drop = { do: 'drop-replica' as const, because, via, collection, shard: id, peer: leaving.id };
  // One that is not active is no source, and need not be one if there is another.
  if (isEnough || (!own?.isLive && live.length > 0)) return [drop];
  const [to] = staying
    .filter((keeper) => !holders.includes(keeper))
    .toSorted((a, b) => loadOf(situation, a.id) - loadOf(situation, b.id) || a.ordinal - b.ordinal);
  if (!to) return [drop];
  return [{ do: 'move-replica', because, via, collection, shard: id, from: leaving.id, to: to.id }];
}
