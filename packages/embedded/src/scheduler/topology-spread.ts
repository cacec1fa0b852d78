import type { Pod, TopologySpreadConstraint } from '@polder/kube';
import { untolerated } from '../nodes/taints.ts';
import { selectorOf, withLabelKeys } from './affinity-term.ts';
import { isSelectedBy } from './node-selection.ts';
import type { NodeFacts, Question } from './occupancy.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Filter } from './refusal.ts';
import { byDomain } from './topology.ts';

/** One constraint, with what it counts. */
export interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly question: Question;
  /** Whether the pod itself will be counted. */
  readonly countsSelf: boolean;
  /** Whether a node's pods count for this pod: one where it could not be anyway would distort the balance. */
  includes(node: NodeFacts): boolean;
}

export function spreads(pod: PodFacts, when: TopologySpreadConstraint['whenUnsatisfiable']): readonly Spread[] {
  const given = pod.pod.spec?.topologySpreadConstraints ?? [];
  return given.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when).map((one) => spread(one, pod));
}

function spread(constraint: TopologySpreadConstraint, pod: PodFacts): Spread {
  const { topologyKey, maxSkew, minDomains = 1 } = constraint;
  const selector = withLabelKeys(constraint, pod.labels);
  const selects = selectorOf(selector);
  const { namespace } = pod;
  return {
    topologyKey,
    maxSkew,
    minDomains,
    question: {
      key: JSON.stringify(['spread', namespace, selector]),
      isAbout: (one) => one.namespace === namespace && !one.isLeaving && selects(one.labels),
    },
    countsSelf: selects(pod.labels),
    includes: ({ node }) => isIncluded(constraint, pod.pod, node),
  };
}

function isIncluded(constraint: TopologySpreadConstraint, pod: Pod, node: NodeFacts['node']): boolean {
  const { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint;
  if (nodeAffinityPolicy === 'Honor' && !isSelectedBy(pod, node)) return false;
  return (
    nodeTaintsPolicy === 'Ignore' || !untolerated(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute'])
  );
}

const UNBALANCED = "node(s) didn't match pod topology spread constraints";

export const topologySpread: Filter = (pod, { occupancy }) => {
  const hard = spreads(pod, 'DoNotSchedule');
  if (hard.length === 0) return () => undefined;
  const complete = occupancy.nodes.filter(({ labels }) => hard.every(({ topologyKey }) => topologyKey in labels));
  const limits = hard.map((one) => {
    const { topologyKey, maxSkew, minDomains, question } = one;
    const counts = byDomain(
      complete.filter((node) => one.includes(node)),
      topologyKey,
      occupancy.count(question),
    );
    // Too few domains: the missing ones stand empty, as it were.
    const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
    return { topologyKey, counts, most: maxSkew + least - (one.countsSelf ? 1 : 0) };
  });
  return ({ labels }) => {
    for (const { topologyKey, counts, most } of limits) {
      const domain = labels[topologyKey];
      if (domain === undefined) return { reasons: [`${UNBALANCED} (missing required label)`], isFinal: true };
      if ((counts.get(domain) ?? 0) > most) return { reasons: [UNBALANCED], isFinal: false };
    }
    return undefined;
  };
};
