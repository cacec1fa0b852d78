import type { Clock } from '@polder/kube';
import type { PodLogRequest, PodLogs } from '../../apiserver/index.ts';
import { valueAt } from '../../apiserver/object-text.ts';
import { badRequest } from '../../apiserver/status.ts';
import type { ContainerLogs } from './container-logs.ts';

/** Answers `kubectl logs` from the files. `directoryOf` says where those of a container are. */
export function podLogs(
  logs: ContainerLogs,
  directoryOf: (podUid: string, container: string) => string,
  clock: Clock,
): PodLogs {
  return async (request) => {
    const { pod, container, follow, timestamps, tailLines, sinceSeconds, sinceTime, limitBytes, signal } = request;
    const directory = directoryOf(pod.metadata.uid ?? '', container);
    const run = runOf(request, logs, directory);
    const since = sinceSeconds === undefined ? sinceTime : clock.now() - sinceSeconds * 1000;
    return logs.read(directory, run, { follow, timestamps, tailLines, since, limitBytes, signal });
  };
}

/**
 * The files know better than the status which runs there were: a status is always a little late. But only the status
 * tells whether the newest run is over and waits for the next one; it is then the previous one already.
 */
function runOf({ pod, container, previous }: PodLogRequest, logs: ContainerLogs, directory: string): number {
  const state = stateOf(pod, container);
  const runs = logs.runs(directory);
  const newest = runs.at(-1);
  const named = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (!previous) {
    if (newest !== undefined) return newest;
    if (state === undefined) throw badRequest(`${named} is not available`);
    throw badRequest(`${named} is ${reasonOf(state)}`);
  }
  const isBetweenRuns = newest !== undefined && !logs.isOpen(directory, newest) && valueAt(state, ['waiting']);
  const run = isBetweenRuns ? newest : runs.at(-2);
  if (run === undefined) throw badRequest(`previous terminated ${named} not found`);
  return run;
}

function stateOf(pod: PodLogRequest['pod'], container: string): unknown {
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
    const statuses = valueAt(pod, ['status', list]);
    const status = Array.isArray(statuses) && statuses.find((one) => valueAt(one, ['name']) === container);
    if (status) return valueAt(status, ['state']) ?? {};
  }
  return undefined;
}

function reasonOf(state: unknown): string {
  if (valueAt(state, ['terminated'])) return 'terminated';
  const reason = valueAt(state, ['waiting', 'reason']);
  if (reason === 'ErrImagePull') return "waiting to start: image can't be pulled";
  if (reason === 'ImagePullBackOff') return 'waiting to start: trying and failing to pull image';
  return typeof reason === 'string' ? `waiting to start: ${reason}` : 'waiting to start - no logs yet';
}
