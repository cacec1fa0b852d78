import type { Pod, ReplicaSet, ReplicaSetStatus } from '@polder/kube';
import { isAvailable, isReady } from '../pods/index.ts';
import { CreateFailed } from './steps.ts';

export function statusOf(set: ReplicaSet, active: readonly Pod[], terminating: number, now: Date): ReplicaSetStatus {
  const { template, minReadySeconds } = set.spec ?? {};
  const wanted = Object.entries(template?.metadata?.labels ?? {});
  const isLabeled = ({ metadata }: Pod) => wanted.every(([key, value]) => metadata.labels?.[key] === value);
  // A pass that got here could create what it wanted: there is no failure to report.
  const conditions = set.status?.conditions?.filter(({ type }) => type !== 'ReplicaFailure') ?? [];
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(isLabeled).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    terminatingReplicas: terminating,
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
}

/** A deployment shows this condition as its own: it is how a user learns that a quota or a webhook keeps pods away. */
export function statusOfFailure(set: ReplicaSet, error: unknown, now: Date): ReplicaSetStatus {
  const before = set.status ?? { replicas: 0 };
  if (!(error instanceof CreateFailed)) return before;
  const others = before.conditions?.filter(({ type }) => type !== 'ReplicaFailure') ?? [];
  const old = before.conditions?.find(({ type }) => type === 'ReplicaFailure');
  const condition = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: error.message,
    lastTransitionTime: old?.lastTransitionTime ?? `${now.toISOString().slice(0, 19)}Z`,
  };
  return { ...before, conditions: [...others, condition] };
}
