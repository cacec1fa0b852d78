import { type Kind, type KubernetesObject, type LabelSelector, Pod, type Steps, type World } from '@polder/kube';
import { adopt, type Claimable, type Claimant, claimant, claimsOf, release } from '../ownership.ts';

/** Which pods belong to a workload: those it controls, and by its selector also those that nobody does. */
export interface Claim {
  readonly pods: readonly Pod[];
  readonly steps: readonly ClaimStep[];
}

export type ClaimStep =
  | { readonly do: 'adopt-pod'; readonly because: string; readonly pod: Pod; readonly by: Claimant }
  | { readonly do: 'release-pod'; readonly because: string; readonly pod: Pod; readonly ownerUid: string };

/** A workload that is being deleted takes nothing in any more. */
export function claim<T extends KubernetesObject>(
  kind: Kind<T>,
  owner: T,
  selector: LabelSelector,
  claimable: Claimable<Pod>,
): Claim {
  const { kept, adopted, released } = claimsOf(owner, selector, claimable);
  return {
    pods: [...kept, ...adopted],
    steps: [
      ...adopted.map((pod): ClaimStep => {
        const because = `the selector matches pod ${pod.metadata.name}, which nobody controls`;
        return { do: 'adopt-pod', because, pod, by: claimant(kind, owner) };
      }),
      ...released.map((pod): ClaimStep => {
        const because = `the selector no longer matches pod ${pod.metadata.name}`;
        return { do: 'release-pod', because, pod, ownerUid: owner.metadata.uid ?? '' };
      }),
    ],
  };
}

export const claimSteps: Steps<ClaimStep, World> = {
  'adopt-pod': ({ pod, by }, { cluster }) => adopt(cluster, Pod, pod, by),
  'release-pod': ({ pod, ownerUid }, { cluster }) => release(cluster, Pod, pod, ownerUid),
};
