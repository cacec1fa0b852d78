import {
  type Act,
  type Kind,
  type KubernetesObject,
  type LabelSelector,
  ownerReference,
  Pod,
  type World,
} from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { isTerminating } from './state.ts';

/** Which pods belong to a workload: those it controls, and by its selector also those that nobody does. */
export interface Claim {
  readonly pods: readonly Pod[];
  readonly steps: readonly ClaimStep[];
}

export type ClaimStep =
  | {
      readonly do: 'adopt-pod';
      readonly because: string;
      readonly pod: Pod;
      readonly owner: ReturnType<typeof ownerReference>;
    }
  | { readonly do: 'release-pod'; readonly because: string; readonly pod: Pod; readonly ownerUid: string };

export interface Claimable {
  /** Pods that the workload controls. */
  readonly owned: readonly Pod[];
  /** Pods of its namespace that nobody controls. */
  readonly unowned: readonly Pod[];
}

/** A workload that is being deleted takes nothing in any more. */
export function claim<T extends KubernetesObject>(
  kind: Kind<T>,
  owner: T,
  selector: LabelSelector,
  { owned, unowned }: Claimable,
): Claim {
  const matches = structuredLabelSelector(selector);
  const selects = ({ metadata }: Pod) => matches(metadata.labels ?? {});
  if (owner.metadata.deletionTimestamp !== undefined) return { pods: owned.filter(selects), steps: [] };
  const adopted = unowned.filter((pod) => selects(pod) && !isTerminating(pod));
  const released = owned.filter((pod) => !selects(pod) && !isTerminating(pod));
  return {
    pods: [...owned.filter(selects), ...adopted],
    steps: [
      ...adopted.map((pod): ClaimStep => {
        const because = `the selector matches pod ${pod.metadata.name}, which nobody controls`;
        return { do: 'adopt-pod', because, pod, owner: ownerReference(kind, owner) };
      }),
      ...released.map((pod): ClaimStep => {
        const because = `the selector no longer matches pod ${pod.metadata.name}`;
        return { do: 'release-pod', because, pod, ownerUid: owner.metadata.uid ?? '' };
      }),
    ],
  };
}

/** The uid keeps a successor of the same name from being taken, or let go, in a pod's place. */
const of = ({ metadata: { uid, ownerReferences = [] } }: Pod, owners: typeof ownerReferences) => ({
  type: 'merge' as const,
  body: { metadata: { uid, ownerReferences: owners } },
});

export const claimSteps: { readonly [Name in ClaimStep['do']]: Act<Extract<ClaimStep, { do: Name }>, World> } = {
  'adopt-pod': async ({ pod, owner }, { cluster }) => {
    await cluster.patch(Pod, pod.metadata, of(pod, [...(pod.metadata.ownerReferences ?? []), owner]));
  },
  'release-pod': async ({ pod, ownerUid }, { cluster }) => {
    const others = (pod.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== ownerUid);
    await cluster.patch(Pod, pod.metadata, of(pod, others));
  },
};
