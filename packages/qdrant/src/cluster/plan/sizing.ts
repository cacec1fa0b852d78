import { type Situation, sizeOfMembers } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** More pods, or none at all. Fewer is what draining is for. */
export function sizing(situation: Situation): readonly ClusterStep[] {
  const { cluster, observed, size } = situation;
  const { set } = observed.children;
  if (!set || size === undefined) return [];
  if (cluster.spec.suspend) {
    return size === 0 ? [] : [{ do: 'scale', because: 'spec.suspend is true', set, to: 0 }];
  }
  const members = Math.max(1, sizeOfMembers(situation));
  if (size < members) return [{ do: 'scale', because: `there are ${members} members`, set, to: members }];
  const { replicas } = cluster.spec;
  // Those that there are to be now come first: until somebody answers in each, there is nothing to decide.
  if (observed.pods.filter(({ ordinal, peer }) => ordinal < size && peer.known).length < size) return [];
  // One by one: who is counted as a member and does not take part yet is one that others need for every decision.
  return size < replicas ? [{ do: 'scale', because: `spec.replicas is ${replicas}`, set, to: size + 1 }] : [];
}
