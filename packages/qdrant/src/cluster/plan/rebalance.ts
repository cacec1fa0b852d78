import { lightest } from './repair.ts';
import { keepers, loadOf, type Situation, throughLeader } from './situation.ts';
import type { ClusterStep } from './step.ts';

/**
 * From the peer with the most shards to the one with the fewest, for as long as they differ by two: then each move makes
 * the sum of squares smaller, so it ends. Only while there is nothing else to do.
 */
export function rebalancing(situation: Situation): readonly ClusterStep[] {
  const { cluster, sight } = situation;
  const via = throughLeader(situation);
  if (via === undefined || cluster.spec.rebalance?.strategy === 'disabled') return [];
  const peers = lightest(keepers(situation), situation);
  const [least, most] = [peers[0], peers.at(-1)];
  if (!least || !most || loadOf(situation, most.id) - loadOf(situation, least.id) < 2) return [];
  const shard = sight.shards.find(
    ({ copies }) =>
      copies.some(({ peer, isLive }) => peer === most.id && isLive) && !copies.some(({ peer }) => peer === least.id),
  );
  if (!shard) return [];
  const because = `${most.pod} has ${loadOf(situation, most.id)} shards, ${least.pod} has ${loadOf(situation, least.id)}`;
  const { collection, id } = shard;
  return [{ do: 'move-replica', because, via, collection, shard: id, from: most.id, to: least.id }];
}
