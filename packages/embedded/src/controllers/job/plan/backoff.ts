import type { Pod } from '@polder/kube';
import { podCondition } from '../../pods/index.ts';
import { type Facts, ignoredFailuresOf, isFailed, pastFailuresOf } from './facts.ts';

const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;

/** When the next pod may be created after failures in a row, in milliseconds since the epoch. */
export function retryAt(failures: number, lastFailedAt: number): number {
  if (failures === 0) return 0;
  return lastFailedAt + Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
}

/**
 * When a job whose pods share one backoff may create the next. It is read off the pods, so a restart forgets nothing: the
 * failures that ended after the last success. While nothing succeeded, also those whose pods are gone: they are in the status.
 */
export function jobRetryAt({ spec, pods, counts }: Facts): number {
  const lastSuccess = Math.max(...pods.filter(({ status }) => status?.phase === 'Succeeded').map(finishedAt));
  const failures = pods.filter((pod) => isFailed(spec, pod)).map(finishedAt);
  const since = failures.filter((time) => time > lastSuccess);
  const inStatus = counts.succeeded === 0 ? counts.failed : 0;
  return since.length === 0 ? 0 : retryAt(Math.max(since.length, inStatus), Math.max(...since));
}

/** When an index with its own backoff may get its next pod, given the pod that failed last. */
export function indexRetryAt(lastFailed: Pod | undefined): number {
  if (!lastFailed) return 0;
  return retryAt(pastFailuresOf(lastFailed) + ignoredFailuresOf(lastFailed) + 1, finishedAt(lastFailed));
}

/**
 * When a pod ended, in milliseconds since the epoch, by the best witness there is: its containers (sidecars too, they end
 * last), its ceasing to be ready, its deletion, or at least its creation.
 */
export function finishedAt(pod: Pod): number {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const sidecars = new Set(
    (pod.spec?.initContainers ?? []).filter((one) => one.restartPolicy === 'Always').map(({ name }) => name),
  );
  const ends = [...containerStatuses, ...initContainerStatuses.filter(({ name }) => sidecars.has(name))].map(
    ({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''),
  );
  if (ends.length > 0 && !ends.some(Number.isNaN)) return Math.max(...ends);
  const ready = podCondition(pod, 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp = '' } = pod.metadata;
  if (deletionTimestamp !== undefined) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}
