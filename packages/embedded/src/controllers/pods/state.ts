/** What a pod's status says, in the words that controllers decide by. */
import type { Pod } from '@polder/kube';

export function podCondition(pod: Pod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export const isTerminating = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

export const isFailed = ({ status }: Pod) => status?.phase === 'Failed';

/** Its containers have ended for good. */
export const isEnded = (pod: Pod) => pod.status?.phase === 'Succeeded' || isFailed(pod);

/** It counts: neither at its end nor on its way out. */
export const isActive = (pod: Pod) => !isEnded(pod) && !isTerminating(pod);

export const isReady = (pod: Pod) => podCondition(pod, 'Ready')?.status === 'True';

/** In milliseconds; undefined if it is not ready. */
export function readySince(pod: Pod): number | undefined {
  const condition = podCondition(pod, 'Ready');
  return condition?.status === 'True' ? Date.parse(condition.lastTransitionTime ?? '') : undefined;
}

/** When it counts as available: ready for `minReadySeconds`. In milliseconds; undefined if it is not ready. */
export function availableAt(pod: Pod, minReadySeconds = 0): number | undefined {
  const since = readySince(pod);
  return since === undefined ? undefined : since + minReadySeconds * 1000;
}

export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: Date): boolean {
  // With nothing to wait for, it does not matter since when: not every kubelet says.
  if ((minReadySeconds ?? 0) === 0) return isReady(pod);
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= now.getTime();
}
