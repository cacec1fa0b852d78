import { podName } from '../objects/index.ts';
import type { SeenPeer } from './sight.ts';
import {
  copiesOn,
  factorOf,
  isLost,
  keepers,
  loadOf,
  type Situation,
  throughLeader,
  volumeAt,
  writeFactorOf,
} from './situation.ts';
import type { ClusterStep } from './step.ts';

/**
 * A member whose volume is gone. Its successor has the same URI and is refused for as long as the old one holds shards: so
 * they are given up, each only if another copy lives, then the member, and then the successor joins by itself.
 */
export function givingUpTheLost(situation: Situation): readonly ClusterStep[] {
  const { sight } = situation;
  const via = throughLeader(situation);
  if (via === undefined) return [];
  return sight.missing
    .filter((one) => isLost(situation, one))
    .flatMap(({ id: peer, pod = '' }) => {
      const because = `the volume of ${pod} was lost`;
      const drops = copiesOn(situation, peer).map(
        ({ collection, id }): ClusterStep => ({ do: 'drop-replica', because, via, collection, shard: id, peer }),
      );
      return [...drops, { do: 'remove-peer', because, via, peer, pod }];
    });
}

/** A peer that was removed and is wanted again: with its volume it can't come back. */
export function rejoining(situation: Situation): readonly ClusterStep[] {
  const { cluster, observed, sight } = situation;
  return sight.removed
    .filter(({ ordinal }) => ordinal < cluster.spec.replicas)
    .flatMap(({ ordinal }): ClusterStep[] => {
      const because = `${podName(cluster, ordinal)} was removed from the cluster and can not join again with its volume`;
      const claim = observed.claims.find((one) => one.ordinal === ordinal && one.volume === 'storage');
      const seen = observed.pods.find((one) => one.ordinal === ordinal);
      const isLeft = claim !== undefined && claim.claim.metadata.deletionTimestamp === undefined;
      return [
        ...(isLeft ? [{ do: 'remove-volume' as const, because, claim: claim.claim }] : []),
        ...(seen && !isLeft ? [{ do: 'restart-pod' as const, because, pod: seen.pod }] : []),
      ];
    });
}

/** The server records how many copies there should be, and makes none: neither for a new factor nor for a lost peer. */
export function replicating(situation: Situation): readonly ClusterStep[] {
  const { cluster, sight, size = 0 } = situation;
  const via = throughLeader(situation);
  if (via === undefined || size > cluster.spec.replicas) return [];
  const peers = keepers(situation);
  return sight.shards.flatMap(({ collection, id, copies }): ClusterStep[] => {
    const factor = factorOf(situation, collection);
    if (!factor.known) return [];
    const wanted = Math.min(factor.value, peers.length);
    const source = copies.find(({ isLive }) => isLive);
    if (copies.length < wanted && source) {
      const [to] = lightest(
        peers.filter((one) => !copies.some(({ peer }) => peer === one.id)),
        situation,
      );
      const because = `there are ${copies.length} of ${wanted} copies`;
      return to ? [{ do: 'replicate-shard', because, via, collection, shard: id, from: source.peer, to: to.id }] : [];
    }
    const least = Math.max(factor.value, writeFactorOf(situation, collection));
    if (copies.length > least && copies.every(({ isLive }) => isLive)) {
      const holders = peers.filter((one) => copies.some(({ peer }) => peer === one.id));
      const last = lightest(holders, situation).at(-1);
      const because = `there are ${copies.length} copies, and ${least} are wanted`;
      return last ? [{ do: 'drop-replica', because, via, collection, shard: id, peer: last.id }] : [];
    }
    return [];
  });
}

/** Who has the fewest shards first. */
export const lightest = (peers: readonly SeenPeer[], situation: Situation): readonly SeenPeer[] =>
  peers.toSorted((a, b) => loadOf(situation, a.id) - loadOf(situation, b.id) || a.ordinal - b.ordinal);

/** Members with what the next pass has to remember of them. */
export function membersOf(situation: Situation) {
  const { cluster, sight } = situation;
  const before = cluster.status?.peers ?? [];
  if (!sight.leader) return before;
  const present = sight.members.map(({ id, pod, ordinal, view }) => {
    const volume = volumeAt(situation, ordinal) ?? before.find((one) => one.id === id)?.volume;
    const uri = view.members.get(id) ?? '';
    const { role, isVoter } = view;
    return { id, pod, uri, ...(role !== undefined && { role }), isVoter, ...(volume !== undefined && { volume }) };
  });
  const away = sight.missing.map(({ id, uri, pod = '' }) => {
    const volume = before.find((one) => one.id === id)?.volume;
    return { id, pod, uri, ...(volume !== undefined && { volume }) };
  });
  return [...present, ...away];
}
