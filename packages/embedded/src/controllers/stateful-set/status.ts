import type { Pod, StatefulSet, StatefulSetStatus } from '@polder/kube';
import { nonZero } from '../counts.ts';
import { isAvailable, isTerminating } from '../pods/index.ts';
import { NameTaken } from '../revisions/index.ts';
import { revisionOf } from './identity.ts';
import { isRunningAndReady } from './members.ts';
import { StepFailed } from './steps.ts';
import { wantedOf } from './wanted.ts';

/** The revisions that a set is between. */
export interface Revised {
  readonly current: string;
  readonly update: string;
}

export function statusOf(
  set: StatefulSet,
  pods: readonly Pod[],
  { current, update }: Revised,
  now: Date,
  /** The one that this pass replaces. */
  replaced?: Pod,
): StatefulSetStatus {
  const { replicas, partition, minReadySeconds } = wantedOf(set);
  const ready = pods.filter(isRunningAndReady);
  const staying = pods.filter((pod) => pod !== replaced && !isTerminating(pod));
  const at = (revision: string) => staying.filter((pod) => revisionOf(pod) === revision).length;
  const updated = at(update);
  const isComplete =
    partition !== undefined && [updated, ready.length, pods.length].every((count) => count === replicas);
  return {
    replicas: pods.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    collisionCount: set.status?.collisionCount ?? 0,
    currentRevision: isComplete ? update : current,
    updateRevision: update,
    observedGeneration: set.metadata.generation ?? 0,
    ...nonZero({ readyReplicas: ready.length, updatedReplicas: updated }),
    ...nonZero({ currentReplicas: isComplete ? updated : at(current) }),
  };
}

export function statusOfFailure(set: StatefulSet, error: unknown): StatefulSetStatus {
  const before = set.status ?? { replicas: 0 };
  if (error instanceof NameTaken) return { ...before, collisionCount: (before.collisionCount ?? 0) + 1 };
  return error instanceof StepFailed ? error.status : before;
}
