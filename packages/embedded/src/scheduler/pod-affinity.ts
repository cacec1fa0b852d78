import type { AffinityTerm, NamespaceLabels } from './affinity-term.ts';
import type { NodeFacts, Question } from './occupancy.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Filter, Surroundings } from './refusal.ts';
import { byDomain } from './topology.ts';

type Check = (node: NodeFacts) => boolean;

/** Required affinity and anti-affinity, of the pod and of those that are there: neither side may be let down. */
export const podAffinity: Filter = (pod, surroundings) => {
  const isNear = nearness(pod, surroundings);
  const isApart = distance(pod, surroundings);
  const isWelcome = welcome(pod, surroundings);
  return (node) => {
    if (!isNear(node)) return { reasons: ["node(s) didn't match pod affinity rules"], isFinal: true };
    if (!isApart(node)) return { reasons: ["node(s) didn't match pod anti-affinity rules"], isFinal: false };
    if (!isWelcome(node)) {
      return { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], isFinal: false };
    }
    return undefined;
  };
};

/** A pod counts as a neighbour only if it matches every term. */
function nearness(pod: PodFacts, { occupancy, namespaces }: Surroundings): Check {
  const { near } = pod;
  if (near.length === 0) return () => true;
  const counts = occupancy.count(podsMatching(near, namespaces));
  const domains = near.map(({ topologyKey }) => ({
    topologyKey,
    counts: byDomain(occupancy.nodes, topologyKey, counts),
  }));
  // The first of a group that wants to be together has nobody to be near to.
  const isFirst =
    domains.every((one) => one.counts.values().every((count) => count === 0)) &&
    near.every((term) => term.matches(pod.namespace, pod.labels, namespaces));
  return ({ labels }) =>
    domains.every(({ topologyKey, counts: inDomain }) => {
      const domain = labels[topologyKey];
      return domain !== undefined && (isFirst || (inDomain.get(domain) ?? 0) > 0);
    });
}

function distance(pod: PodFacts, { occupancy, namespaces }: Surroundings): Check {
  const domains = pod.apart.map((term) => {
    const counts = occupancy.count(podsMatching([term], namespaces));
    return { topologyKey: term.topologyKey, counts: byDomain(occupancy.nodes, term.topologyKey, counts) };
  });
  return ({ labels }) => domains.every(({ topologyKey, counts }) => (counts.get(labels[topologyKey] ?? '') ?? 0) === 0);
}

function welcome(pod: PodFacts, { occupancy, namespaces }: Surroundings): Check {
  const closed = [...occupancy.apart]
    .filter(({ term }) => term.matches(pod.namespace, pod.labels, namespaces))
    .map(({ term, byNode }) => ({
      topologyKey: term.topologyKey,
      counts: byDomain(occupancy.nodes, term.topologyKey, byNode),
    }));
  return ({ labels }) => closed.every(({ topologyKey, counts }) => (counts.get(labels[topologyKey] ?? '') ?? 0) === 0);
}

/** Labels of namespaces are part of the question: the same terms ask anew when those have changed. */
export function podsMatching(terms: readonly AffinityTerm[], namespaces: NamespaceLabels): Question {
  return {
    key: JSON.stringify([
      terms.map(({ key }) => key),
      terms.some(({ selectsNamespaces }) => selectsNamespaces) && [...namespaces],
    ]),
    isAbout: ({ namespace, labels }) => terms.every((term) => term.matches(namespace, labels, namespaces)),
  };
}
