import type { Pod, PodStatus } from '@polder/kube';
import { type ContainerRun, isBusy, lastEnd, NEW_RUN, settled } from './container-run.ts';
import { deadlineOf, isInit, isRestarted, isSidecar } from './pod-spec.ts';

export interface Phase {
  readonly phase: NonNullable<PodStatus['phase']>;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** No container is started any more, and those that still run have nothing left to do. */
  readonly isOver: boolean;
}

type Runs = ReadonlyMap<string, ContainerRun>;

export const isTerminal = (phase: PodStatus['phase']) => phase === 'Succeeded' || phase === 'Failed';

/** Whether something of the pod runs, or may. */
export const isAnyBusy = (runs: Runs) => [...runs.values()].some(isBusy);

/** Where in its life a pod is. */
export function phaseOf(pod: Pod, runs: Runs, now: number): Phase {
  const { phase, reason, message } = pod.status ?? {};
  // An end stays, whoever has declared it.
  if (phase === 'Succeeded' || phase === 'Failed') return { phase, reason, message, isOver: true };
  if ((deadlineOf(pod) ?? Infinity) <= now) {
    return {
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
      isOver: true,
    };
  }
  return { phase: byContainers(pod, runs), reason, message, isOver: hasNothingToDo(pod, runs) };
}

/** Its work has ended for good: one way or the other, or because its initialization failed. Sidecars do not count. */
function hasNothingToDo(pod: Pod, runs: Runs): boolean {
  const { containers = [] } = pod.spec ?? {};
  if (hasFailedInit(pod, runs)) return true;
  return containers.every((container) => {
    const { state } = runs.get(container.name) ?? NEW_RUN;
    return state.is === 'ended' && !isRestarted(pod, container, state.ending.exitCode);
  });
}

function hasFailedInit(pod: Pod, runs: Runs): boolean {
  return (pod.spec?.initContainers ?? []).some((container) => {
    const end = isInit(pod, container) && lastEnd(runs.get(container.name) ?? NEW_RUN);
    return end && end.ending.exitCode !== 0 && !isRestarted(pod, container, end.ending.exitCode);
  });
}

function byContainers(pod: Pod, runs: Runs): Phase['phase'] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const runOf = ({ name }: { readonly name: string }) => settled(runs.get(name) ?? NEW_RUN);
  const hasSucceeded = containers.every((one) => lastEnd(runOf(one))?.ending.exitCode === 0);
  // Nothing of it will be restarted, whatever its policy says: what has not come to a good end has failed.
  if (pod.metadata.deletionTimestamp !== undefined && !isAnyBusy(runs)) return hasSucceeded ? 'Succeeded' : 'Failed';
  if (hasFailedInit(pod, runs)) return 'Failed';

  const hasBegun = containers.some((one) => runOf(one).state.is === 'running');
  const isInitialized = initContainers.every((one) => {
    const { state } = runOf(one);
    if (isSidecar(one)) return lastEnd(runOf(one)) !== undefined || (state.is === 'running' && state.health.isStarted);
    return state.is === 'ended' && state.ending.exitCode === 0;
  });
  if (!isInitialized && !hasBegun) return 'Pending';
  if (containers.some((one) => runOf(one).state.is === 'waiting' && lastEnd(runOf(one)) === undefined))
    return 'Pending';

  const isSidecarRunning = initContainers.some((one) => isSidecar(one) && runOf(one).state.is === 'running');
  if (isSidecarRunning || !hasNothingToDo(pod, runs)) return 'Running';
  return hasSucceeded ? 'Succeeded' : 'Failed';
}
