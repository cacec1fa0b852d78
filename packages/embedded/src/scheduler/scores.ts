import { tolerates } from '../nodes/taints.ts';
import { matchesTerm } from './node-selection.ts';
import type { NodeFacts } from './occupancy.ts';
import { podsMatching } from './pod-affinity.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Surroundings } from './refusal.ts';
import { weightOf } from './room.ts';
import { byDomain } from './topology.ts';
import { type Spread, spreads } from './topology-spread.ts';

/** How well a pod would be on a node: 0 to 100. Only differences between the nodes matter. */
export type Score = (node: NodeFacts) => number;

/** Given the nodes that are left to choose from. */
type Scorer = (pod: PodFacts, candidates: readonly NodeFacts[], surroundings: Surroundings) => Score;

const BEST = 100;

/** What the real scheduler looks at, with its weights; all but how evenly resources are used up and which images are there. */
const SCORERS: readonly { readonly weight: number; readonly scorer: Scorer }[] = [
  { weight: 3, scorer: preferredTaints },
  { weight: 2, scorer: preferredNodes },
  { weight: 1, scorer: leastAllocated },
  { weight: 2, scorer: evenSpread },
  { weight: 2, scorer: preferredNeighbours },
];

export function scoreOf(pod: PodFacts, candidates: readonly NodeFacts[], surroundings: Surroundings): Score {
  const scores = SCORERS.map(({ weight, scorer }) => ({ weight, score: scorer(pod, candidates, surroundings) }));
  return (node) => scores.reduce((total, { weight, score }) => total + weight * score(node), 0);
}

/** Fewer taints that ask to stay away are better. */
function preferredTaints({ pod }: PodFacts, candidates: readonly NodeFacts[]): Score {
  const tolerations = pod.spec?.tolerations ?? [];
  const unwanted = ({ node }: NodeFacts) =>
    (node.spec?.taints ?? []).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
    ).length;
  const share = shareOfMost(candidates, unwanted);
  return (node) => BEST - share(node);
}

function preferredNodes({ pod }: PodFacts, candidates: readonly NodeFacts[]): Score {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return shareOfMost(candidates, ({ node }) =>
    preferred.reduce((sum, { preference, weight }) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
  );
}

/** The more of its processors and memory a node has left, the better. */
function leastAllocated(pod: PodFacts): Score {
  const weight = weightOf(pod);
  return ({ allocatable, room }) => {
    const shares = [...weight].flatMap(([name, amount]) => {
      const all = allocatable.get(name) ?? 0;
      const used = (room.weight.get(name) ?? 0) + amount;
      if (all === 0) return [];
      return [used > all ? 0 : Math.floor(((all - used) * BEST) / all)];
    });
    return shares.length === 0 ? 0 : Math.floor(shares.reduce((sum, share) => sum + share, 0) / shares.length);
  };
}

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

/** Who says nothing about it is spread over hosts and zones together with the other pods of the same workload. */
function usualSpreads({ owner, namespace }: PodFacts): readonly Spread[] {
  if (owner === undefined) return [];
  const question = {
    key: JSON.stringify(['workload', namespace, owner]),
    isAbout: (one: PodFacts) => one.owner === owner && !one.isLeaving,
  };
  const usual = { minDomains: 1, question, countsSelf: true, includes: () => true };
  return [
    { ...usual, topologyKey: HOSTNAME, maxSkew: 3 },
    { ...usual, topologyKey: ZONE, maxSkew: 5 },
  ];
}

function evenSpread(pod: PodFacts, candidates: readonly NodeFacts[], { occupancy }: Surroundings): Score {
  const isUsual = (pod.pod.spec?.topologySpreadConstraints ?? []).length === 0;
  const soft = isUsual ? usualSpreads(pod) : spreads(pod, 'ScheduleAnyway');
  if (soft.length === 0) return () => 0;
  const isComplete = ({ labels }: NodeFacts) => isUsual || soft.every(({ topologyKey }) => topologyKey in labels);
  const rated = candidates.filter(isComplete);
  const crowding = soft.map((one) => {
    const { topologyKey, maxSkew } = one;
    const counted = occupancy.nodes.filter((node) => isComplete(node) && one.includes(node));
    const counts = byDomain(counted, topologyKey, occupancy.count(one.question));
    const domains = new Set(rated.flatMap(({ labels }) => labels[topologyKey] ?? []));
    // A label with many values has few pods under each: their differences weigh more. A large skew blurs them.
    const scale = Math.log(domains.size + 2);
    return ({ labels }: NodeFacts) => {
      const domain = labels[topologyKey];
      return domain === undefined ? 0 : (counts.get(domain) ?? 0) * scale + maxSkew - 1;
    };
  });
  const crowd = (node: NodeFacts) => Math.round(crowding.reduce((sum, one) => sum + one(node), 0));
  const crowds = rated.map(crowd);
  const [most, least] = [Math.max(0, ...crowds), Math.min(...crowds)];
  return (node) => {
    if (!isComplete(node)) return 0;
    return most === 0 ? BEST : Math.floor((BEST * (most + least - crowd(node))) / most);
  };
}

/** What the pod would like to have near or far, and what those that are there would like of it. */
function preferredNeighbours(
  pod: PodFacts,
  candidates: readonly NodeFacts[],
  { occupancy, namespaces }: Surroundings,
): Score {
  const own = pod.preferred.map(({ term, weight }) => {
    const counts = occupancy.count(podsMatching([term], namespaces));
    return { topologyKey: term.topologyKey, weight, counts: byDomain(occupancy.nodes, term.topologyKey, counts) };
  });
  const others = [...occupancy.preferred]
    .filter(({ term }) => term.matches(pod.namespace, pod.labels, namespaces))
    .map(({ term: { topologyKey }, weight, byNode }) => {
      return { topologyKey, weight, counts: byDomain(occupancy.nodes, topologyKey, byNode) };
    });
  const liking = ({ labels }: NodeFacts) =>
    [...own, ...others].reduce((sum, { topologyKey, weight, counts }) => {
      const domain = labels[topologyKey];
      return sum + (domain === undefined ? 0 : weight * (counts.get(domain) ?? 0));
    }, 0);
  const likings = candidates.map(liking);
  const [most, least] = [Math.max(...likings), Math.min(...likings)];
  return (node) => (most === least ? 0 : Math.floor((BEST * (liking(node) - least)) / (most - least)));
}

/** In hundredths of the largest value. */
function shareOfMost(candidates: readonly NodeFacts[], valueOf: (node: NodeFacts) => number): Score {
  const most = Math.max(0, ...candidates.map(valueOf));
  return (node) => (most === 0 ? 0 : Math.floor((BEST * valueOf(node)) / most));
}
