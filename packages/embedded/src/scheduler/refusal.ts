import type { NamespaceLabels } from './affinity-term.ts';
import type { NodeFacts, Occupancy } from './occupancy.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Storage } from './volumes.ts';

/** Everything a decision depends on beside the pod itself. */
export interface Surroundings {
  readonly occupancy: Occupancy;
  readonly namespaces: NamespaceLabels;
  /** The claims are those of the pod's namespace. */
  readonly storage: Storage;
}

/** Why a pod can't be on a node, in the words of the real scheduler. */
export interface Refusal {
  readonly reasons: readonly string[];
  /** Nothing that pods on the node do could change it. */
  readonly isFinal: boolean;
}

/** What is the same for all nodes is worked out once, by the outer function. */
export type Filter = (pod: PodFacts, surroundings: Surroundings) => (node: NodeFacts) => Refusal | undefined;
