import type { ContainerStateTerminated, Pod } from '@polder/kube';
import { type ContainerRun, type Ended, NEW_RUN } from './container-run.ts';
import { containersOf } from './pod-spec.ts';

/** What ended before this program started stays ended: an init container that did its work does not do it again. */
export function endedRuns(pod: Pod): Map<string, ContainerRun> {
  const runs = containersOf(pod).map(({ name }) => [name, reportedRun(pod, name)] as const);
  return new Map(runs.filter(([, { state }]) => state.is === 'ended'));
}

/** Of a container that this program has not started, its status tells how often it ran before, and how that ended. */
export function reportedRun({ status }: Pod, name: string): ContainerRun {
  const reported = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const { restartCount = 0, state, lastState } = reported.find((one) => one.name === name) ?? {};
  const last = lastState?.terminated && endedBefore(lastState.terminated);
  if (state?.terminated) return { ...NEW_RUN, restartCount, state: endedBefore(state.terminated), last };
  // What waited to be started again has ended before.
  if (state?.waiting && last) return { ...NEW_RUN, restartCount, state: last };
  return { ...NEW_RUN, restartCount, last };
}

function endedBefore({ exitCode, signal, reason, message, startedAt, finishedAt }: ContainerStateTerminated): Ended {
  const ending = {
    exitCode,
    at: Date.parse(finishedAt ?? ''),
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
  return { is: 'ended', startedAt: Date.parse(startedAt ?? ''), ending };
}
