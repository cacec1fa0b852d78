import { wantsBudget, wantsPolicy } from '../objects/index.ts';
import { rememberedPods, type Situation, sizeOfMembers } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** What an earlier spec needed and this one does not. */
export function leftovers({ cluster, observed }: Situation): readonly ClusterStep[] {
  const { budget, policy } = observed.children;
  const steps: ClusterStep[] = [];
  if (budget && !wantsBudget(cluster)) {
    steps.push({ do: 'remove-object', because: 'there is one peer, or none is wanted', object: budget });
  }
  if (policy && !wantsPolicy(cluster)) {
    steps.push({ do: 'remove-object', because: 'spec.networkPolicy.enabled is false', object: policy });
  }
  return steps;
}

/** The volumes of peers that left, once their pods are gone. */
export function leftVolumes(situation: Situation): readonly ClusterStep[] {
  const { cluster, observed, size } = situation;
  if (size === undefined || cluster.spec.suspend || cluster.spec.scaleDown?.deletePVC === false) return [];
  // Where nothing is remembered, a volume may be all that is left of a member.
  if (rememberedPods(situation).length === 0) return [];
  const first = Math.max(size, sizeOfMembers(situation));
  return observed.claims
    .filter(({ ordinal, claim }) => ordinal >= first && claim.metadata.deletionTimestamp === undefined)
    .filter(({ ordinal }) => !observed.pods.some((one) => one.ordinal === ordinal))
    .map(({ claim }) => {
      const because = 'its peer has left the cluster';
      return { do: 'remove-volume', because, claim, beyond: observed.children.set };
    });
}
