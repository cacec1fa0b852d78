import { type Plan, type Pod, ReplicaSet, type ReplicaSetStatus } from '@polder/kube';
import {
  type ClaimStep,
  claim,
  deletionOrder,
  isActive,
  isEnded,
  isTerminating,
  newPod,
  nextAvailability,
} from '../pods/index.ts';
import type { Observed } from './observe.ts';
import { statusOf } from './status.ts';

export type ReplicaSetStep = ClaimStep | ScaleStep;

/** Both carry what was counted: a set that can't be scaled still says how many pods it has. */
export type ScaleStep =
  | {
      readonly do: 'create-pod';
      readonly because: string;
      readonly pod: ReturnType<typeof newPod>;
      readonly counted: ReplicaSetStatus;
    }
  | { readonly do: 'delete-pod'; readonly because: string; readonly pod: Pod; readonly counted: ReplicaSetStatus };

/** The most pods that one pass creates or deletes, so that others get their turn. */
const BURST = 500;

export function planReplicaSet(set: ReplicaSet, observed: Observed, now: Date): Plan<ReplicaSetStep, ReplicaSetStatus> {
  const { selector, minReadySeconds = 0 } = set.spec ?? { selector: {} };
  // Pods at their end keep their owner whatever their labels say, and find no new one.
  const claimed = claim(ReplicaSet, set, selector, {
    owned: observed.owned.filter((pod) => !isEnded(pod)),
    unowned: observed.unowned.filter((pod) => !isEnded(pod)),
  });
  const active = claimed.pods.filter(isActive);
  const terminating = claimed.pods.filter(isTerminating);
  const status = statusOf(set, active, terminating.length, now);
  const isDeleted = set.metadata.deletionTimestamp !== undefined;
  return {
    objects: [],
    steps: [...claimed.steps, ...(isDeleted ? [] : scale(set, active, observed, status, now))],
    held: [],
    status,
    ...nextAvailability(active, minReadySeconds, now),
  };
}

function scale(
  set: ReplicaSet,
  active: readonly Pod[],
  { related }: Observed,
  counted: ReplicaSetStatus,
  now: Date,
): readonly ScaleStep[] {
  const { replicas = 1, template } = set.spec ?? {};
  const because = `${active.length} pods are there and ${replicas} are wanted`;
  const missing = replicas - active.length;
  if (missing > 0) {
    const pod = newPod(ReplicaSet, set, template ?? {});
    return Array.from({ length: Math.min(missing, BURST) }, () => ({ do: 'create-pod', because, pod, counted }));
  }
  const surplus = deletionOrder(active, { now, related }).slice(0, Math.min(-missing, BURST));
  return surplus.map((pod) => ({ do: 'delete-pod', because, pod, counted }));
}
