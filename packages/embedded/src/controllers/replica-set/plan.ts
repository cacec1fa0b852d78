import { type Plan, type Pod, ReplicaSet, type ReplicaSetStatus } from '@polder/kube';
import { availableAt, type ClaimStep, claim, deletionOrder, isActive, isTerminating, newPod } from '../pods/index.ts';
import type { Observed } from './observe.ts';
import { statusOf } from './status.ts';

export type ReplicaSetStep =
  | ClaimStep
  | { readonly do: 'create-pod'; readonly because: string; readonly pod: ReturnType<typeof newPod> }
  | { readonly do: 'delete-pod'; readonly because: string; readonly pod: Pod };

/** The most pods that one pass creates or deletes, so that others get their turn. */
const BURST = 500;

export function planReplicaSet(set: ReplicaSet, observed: Observed, now: Date): Plan<ReplicaSetStep, ReplicaSetStatus> {
  const { selector, minReadySeconds = 0 } = set.spec ?? { selector: {} };
  const claimed = claim(ReplicaSet, set, selector, observed);
  const active = claimed.pods.filter(isActive);
  const isDeleted = set.metadata.deletionTimestamp !== undefined;
  const next = nextAvailability(active, minReadySeconds, now);
  return {
    objects: [],
    steps: [...claimed.steps, ...(isDeleted ? [] : scale(set, active))],
    held: [],
    status: statusOf(set, active, claimed.pods.filter(isTerminating).length, now),
    ...(next !== undefined && { lookAgain: { afterMs: next, because: 'a ready pod becomes available' } }),
  };
}

function scale(set: ReplicaSet, active: readonly Pod[]): readonly ReplicaSetStep[] {
  const { replicas = 1, template } = set.spec ?? {};
  const because = `${active.length} pods are there and ${replicas} are wanted`;
  const missing = replicas - active.length;
  if (missing > 0) {
    const pod = newPod(ReplicaSet, set, template ?? {});
    return Array.from({ length: Math.min(missing, BURST) }, () => ({ do: 'create-pod', because, pod }));
  }
  const surplus = deletionOrder(active).slice(0, Math.min(-missing, BURST));
  return surplus.map((pod) => ({ do: 'delete-pod', because, pod }));
}

/** No event tells that a ready pod has been so for long enough. */
function nextAvailability(pods: readonly Pod[], minReadySeconds: number, now: Date): number | undefined {
  const waits = pods.map((pod) => (availableAt(pod, minReadySeconds) ?? 0) - now.getTime()).filter((wait) => wait > 0);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}
