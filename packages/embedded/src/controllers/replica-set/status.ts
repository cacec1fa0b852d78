import { type Pod, type ReplicaSet, type ReplicaSetStatus, timestamp } from '@polder/kube';
import { isAvailable, isReady } from '../pods/index.ts';
import { ScaleFailed } from './steps.ts';

const FAILURE = 'ReplicaFailure';

/** Counts of zero are left out, but for the two that are always there. */
export function statusOf(set: ReplicaSet, active: readonly Pod[], terminating: number, now: Date): ReplicaSetStatus {
  const { template, minReadySeconds } = set.spec ?? {};
  const wanted = Object.entries(template?.metadata?.labels ?? {});
  const isLabeled = ({ metadata }: Pod) => wanted.every(([key, value]) => metadata.labels?.[key] === value);
  const labeled = active.filter(isLabeled).length;
  const ready = active.filter(isReady).length;
  const available = active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length;
  // A pass that comes to its end could scale as it wanted: there is no failure to report.
  const conditions = set.status?.conditions?.filter(({ type }) => type !== FAILURE) ?? [];
  return {
    replicas: active.length,
    ...(labeled > 0 && { fullyLabeledReplicas: labeled }),
    ...(ready > 0 && { readyReplicas: ready }),
    ...(available > 0 && { availableReplicas: available }),
    terminatingReplicas: terminating,
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
}

/**
 * A deployment shows this condition as its own: it is how a user learns that a quota or a webhook keeps pods away. The first
 * failure is told; the next ones are mostly the same in other words.
 */
export function statusOfFailure(set: ReplicaSet, error: unknown, now: Date): ReplicaSetStatus {
  if (!(error instanceof ScaleFailed)) return set.status ?? { replicas: 0 };
  const failure = set.status?.conditions?.find(({ type }) => type === FAILURE) ?? {
    type: FAILURE,
    status: 'True',
    reason: error.reason,
    message: error.message,
    lastTransitionTime: timestamp(now),
  };
  return { ...error.counted, conditions: [...(error.counted.conditions ?? []), failure] };
}
