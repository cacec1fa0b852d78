import type { DaemonSet, DaemonSetStatus } from '@polder/kube';
import { nonZero } from '../counts.ts';
import { isAvailable, isReady } from '../pods/index.ts';
import { NameTaken } from '../revisions/index.ts';
import { isOf } from './daemon.ts';
import type { Scene } from './plan/scene.ts';
import { StepFailed } from './steps.ts';

export function statusOf({ set, places, newest, minReadySeconds, now }: Scene): DaemonSetStatus {
  const wanted = places.filter(({ claim }) => claim === 'run');
  // Of several on a node, during an update, it is the oldest that counts.
  const daemons = wanted.flatMap(({ pods }) => pods.slice(0, 1));
  const available = daemons.filter((pod) => isAvailable(pod, minReadySeconds, now)).length;
  const { collisionCount, conditions } = set.status ?? {};
  return {
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: daemons.length,
    numberMisscheduled: places.filter(({ claim, pods }) => claim !== 'run' && pods.length > 0).length,
    numberReady: daemons.filter(isReady).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...nonZero({ updatedNumberScheduled: daemons.filter((pod) => isOf(pod, newest)).length }),
    ...nonZero({ numberAvailable: available, numberUnavailable: wanted.length - available }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
  };
}

const NOTHING: DaemonSetStatus = {
  desiredNumberScheduled: 0,
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
};

export function statusOfFailure(set: DaemonSet, error: unknown): DaemonSetStatus {
  const before = set.status ?? NOTHING;
  if (error instanceof NameTaken) return { ...before, collisionCount: (before.collisionCount ?? 0) + 1 };
  return error instanceof StepFailed ? error.status : before;
}
