import { isDeepStrictEqual } from 'node:util';
import { type Container, type Happening, type Plan, type Pod, type PodStatus, sameStatus } from '@polder/kube';
import { backoffOf, type ContainerRun, isBusy, NEW_RUN, type StartProblem } from './container-run.ts';
import { RUNNER_ANNOTATION } from './images.ts';
import type { Surroundings } from './kubelet.ts';
import type { Observed } from './observe.ts';
import { isAnyBusy, phaseOf } from './phase.ts';
import { containersOf, deadlineOf, graceMs, isRestarted, isSidecar } from './pod-spec.ts';
import type { Volume } from './runner.ts';
import { SIMULATE } from './simulated/index.ts';
import { fullNameOf, isBackingOff, pullBackOffAt, statusOf } from './status.ts';

interface On {
  readonly because: string;
  readonly pod: Pod;
}

interface OnContainer extends On {
  readonly container: Container;
}

export type KubeletStep =
  | ({ readonly do: 'tell'; readonly happening: Happening } & On)
  | ({ readonly do: 'mark-runner'; readonly runner: string } & On)
  | ({ readonly do: 'end-predecessor' } & On)
  | ({ readonly do: 'prepare-pod'; readonly volumes: readonly Volume[] } & On)
  | ({ readonly do: 'lose-volume'; readonly volume: string } & On)
  | ({ readonly do: 'resume-container'; readonly startedAt: number } & OnContainer & Surroundings)
  | ({ readonly do: 'start-container' } & OnContainer & Surroundings)
  | ({ readonly do: 'stop-container'; readonly graceMs: number; readonly note: string } & OnContainer)
  | ({ readonly do: 'remove-pod' } & On);

type Wanted = { readonly steps: readonly KubeletStep[]; readonly lookAt?: number | undefined };

export function planPod(pod: Pod, observed: Observed, now: Date): Plan<KubeletStep, PodStatus> {
  const { node, news, volumes } = observed;
  if (node === undefined) return { objects: [], steps: [], held: [], status: pod.status ?? {} };
  const unresumed = lostFromSight(pod, observed);
  // What was reported before this program started holds until we have looked.
  if (unresumed.length > 0) return { objects: [], steps: unresumed, held: [], status: pod.status ?? {} };
  // It is written after the steps, and by then what can be prepared is.
  const isPrepared = volumes.known || observed.hasVolumes;
  const status = statusOf(pod, { ...observed, node, isPrepared }, now);
  const { steps, lookAt } = next(pod, observed, status, now.getTime());
  return {
    objects: [],
    steps: [...news.map((happening): KubeletStep => ({ do: 'tell', because: 'it is news', pod, happening })), ...steps],
    held: [],
    status,
    events: eventsOf(pod, observed),
    ...(lookAt !== undefined && {
      lookAgain: { afterMs: Math.max(1, lookAt - now.getTime()), because: 'a deadline or a backoff ends' },
    }),
  };
}

/** What keeps the pod from running. */
function eventsOf(pod: Pod, { volumes, runs }: Observed): readonly Happening[] {
  const late = containersOf(pod).filter((one) => isBackingOff(pod, one, runs.get(one.name) ?? NEW_RUN));
  const backOffs = late.map(({ name }): Happening => {
    const note = `Back-off restarting failed container ${name} in pod ${fullNameOf(pod)}`;
    return { type: 'Warning', reason: 'BackOff', action: 'Restart', note };
  });
  if (volumes.known) return backOffs;
  return [{ type: 'Warning', reason: 'FailedMount', action: 'Mount', note: volumes.because }, ...backOffs];
}

function next(pod: Pod, observed: Observed, status: PodStatus, now: number): Wanted {
  if (pod.metadata.deletionTimestamp !== undefined) return windDown(pod, observed, status, now);
  if (phaseOf(pod, observed.runs, now).isOver) {
    return { steps: stopAll(pod, observed, 'the pod is at its end', graceMs(pod), now) };
  }
  if (observed.isPredecessorRunning) {
    return { steps: [{ do: 'end-predecessor', because: 'an earlier pod of this name still runs', pod }] };
  }
  const mark: readonly KubeletStep[] =
    pod.metadata.annotations?.[RUNNER_ANNOTATION] === observed.runner
      ? []
      : [{ do: 'mark-runner', because: 'users see how a pod is run', pod, runner: observed.runner }];
  const deadline = deadlineOf(pod);
  const { volumes } = observed;
  if (!volumes.known && !observed.hasVolumes) return { steps: mark, lookAt: deadline };
  const prepare: readonly KubeletStep[] =
    observed.isPrepared || !volumes.known
      ? []
      : [{ do: 'prepare-pod', because: 'its volumes are not in place', pod, volumes: volumes.value }];
  const run = runContainers(pod, observed, now);
  return {
    steps: [...mark, ...prepare, ...losses(pod, observed), ...run.steps],
    lookAt: soonest([run.lookAt, deadline]),
  };
}

/** The status says that a container runs, and we know nothing of it: it was started before this program was. */
function lostFromSight(pod: Pod, { runs, references, facts }: Observed): readonly KubeletStep[] {
  const reported = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return containersOf(pod).flatMap((container) => {
    const running = reported.find(({ name }) => name === container.name)?.state?.running;
    if (running === undefined || runs.has(container.name)) return [];
    const startedAt = Date.parse(running.startedAt ?? '');
    const because = 'it was started before this program was';
    return [{ do: 'resume-container', because, pod, container, startedAt, references, facts }];
  });
}

/** For simulations: the disk behind a volume dies. */
function losses(pod: Pod, { volumes }: Observed): readonly KubeletStep[] {
  const name = pod.metadata.annotations?.[`${SIMULATE}lose-volume`];
  const lost = volumes.known ? volumes.value.find((one) => one.name === name) : undefined;
  if (lost?.is !== 'claim') return [];
  return [{ do: 'lose-volume', because: `an annotation of the pod says so`, pod, volume: lost.volumeName }];
}

/** What a sidecar gets at least, however long the containers before it took. */
const SHORTEST_GRACE_MS = 2_000;

/** Containers first, then the sidecars that serve them, then the pod itself, once its status tells the end. */
function windDown(pod: Pod, observed: Observed, status: PodStatus, now: number): Wanted {
  const grace = graceMs(pod);
  const stopping = stopAll(pod, observed, 'the pod is being deleted', grace, now);
  if (stopping.length > 0) return { steps: stopping };
  if (isAnyBusy(observed.runs) || observed.isPredecessorRunning) return { steps: [], lookAt: now + grace };
  // Whoever watches learns how it ended: the status is written by this pass, and its event brings the next.
  if (!sameStatus(pod.status, status)) return { steps: [] };
  return { steps: [{ do: 'remove-pod', because: 'all its containers have ended', pod }] };
}

/** One after the other, sidecars last and in reverse. Who was asked already is asked again if there is less time now. */
function stopAll(pod: Pod, { runs }: Observed, because: string, grace: number, now: number): readonly KubeletStep[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const busy = (list: readonly Container[]) => list.filter(({ name }) => isBusy(runs.get(name) ?? NEW_RUN));
  const first = busy([...containers, ...initContainers.filter((one) => !isSidecar(one))]);
  const turn = first.length > 0 ? first : busy(initContainers).slice(-1);
  const { deletionTimestamp } = pod.metadata;
  const left = deletionTimestamp === undefined ? grace : Date.parse(deletionTimestamp) - now;
  const sidecarGrace = Math.min(grace, Math.max(SHORTEST_GRACE_MS, left));
  return turn.flatMap((container): KubeletStep[] => {
    const state = runs.get(container.name)?.state;
    const time = first.length > 0 ? grace : sidecarGrace;
    if (state?.is !== 'running' || (state.stopBy !== undefined && state.stopBy <= now + time)) return [];
    const note = `Stopping container ${container.name}`;
    return [{ do: 'stop-container', because, note, pod, container, graceMs: time }];
  });
}

function runContainers(pod: Pod, observed: Observed, now: number): Wanted {
  const { runs } = observed;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const wanted: Wanted[] = [];
  // Once a container has begun, a sidecar that restarts does not hold up the others.
  const hasBegun = containers.some(({ name }) => runs.get(name)?.state.is === 'running');
  for (const container of initContainers) {
    const run = runs.get(container.name) ?? NEW_RUN;
    if (hasBegun && !isSidecar(container)) continue;
    wanted.push(oneContainer(pod, container, observed, now));
    // One after the other: the next waits for this one to be done, or to be up if it stays.
    if (!hasBegun && !isPassed(container, run)) return all(wanted);
  }
  wanted.push(...containers.map((one) => oneContainer(pod, one, observed, now)));
  return all(wanted);
}

function isPassed(container: Container, { state }: ContainerRun): boolean {
  if (isSidecar(container)) return state.is === 'running' && state.health.isStarted;
  return state.is === 'ended' && state.ending.exitCode === 0;
}

const all = (wanted: readonly Wanted[]): Wanted => ({
  steps: wanted.flatMap(({ steps }) => steps),
  lookAt: soonest(wanted.map(({ lookAt }) => lookAt)),
});

function soonest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

function oneContainer(pod: Pod, container: Container, { runs, references, facts }: Observed, now: number): Wanted {
  const run = runs.get(container.name) ?? NEW_RUN;
  const { state } = run;
  const start = (because: string): Wanted => ({
    steps: [{ do: 'start-container', because, pod, container, references, facts }],
  });
  switch (state.is) {
    case 'starting':
      return { steps: [] };
    case 'running':
      return { steps: state.stopBy === undefined ? restartOfUnhealthy(pod, container, state.health.unhealthy) : [] };
    case 'waiting': {
      const { problem } = state;
      if (problem === undefined) return start('it has not run yet');
      if (problem.retryAt <= now || isSolved(problem, references)) return start(`to try again after ${problem.reason}`);
      // What users read of it changes on the way.
      const backOffAt = pullBackOffAt(problem);
      return { steps: [], lookAt: now < backOffAt ? backOffAt : problem.retryAt };
    }
    case 'ended': {
      const { exitCode, at } = state.ending;
      if (!isRestarted(pod, container, exitCode)) return { steps: [] };
      const restartAt = at + backoffOf(run, state);
      return restartAt <= now ? start(`it ended with exit code ${exitCode}`) : { steps: [], lookAt: restartAt };
    }
  }
}

/** Something that it refers to was missing, and by now has been made or changed. */
const isSolved = ({ reason, references }: StartProblem, found: Observed['references']) =>
  reason === 'CreateContainerConfigError' && !isDeepStrictEqual(references, found);

function restartOfUnhealthy(
  pod: Pod,
  container: Container,
  failed: 'startup' | 'liveness' | undefined,
): readonly KubeletStep[] {
  if (failed === undefined) return [];
  const probe = failed === 'startup' ? container.startupProbe : container.livenessProbe;
  const grace = (probe?.terminationGracePeriodSeconds ?? graceMs(pod) / 1000) * 1000;
  const because = `Container ${container.name} failed ${failed} probe`;
  // A container that is killed does not end well: that is all its policy can ask for.
  const note = isRestarted(pod, container, 137) ? `${because}, will be restarted` : because;
  return [{ do: 'stop-container', because, note, pod, container, graceMs: grace }];
}
