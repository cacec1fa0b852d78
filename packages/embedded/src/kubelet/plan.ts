import { type Container, type Happening, type Plan, type Pod, type PodStatus, sameStatus } from '@polder/kube';
import { type ContainerRun, isBusy, NEW_RUN, restartAt } from './container-run.ts';
import { RUNNER_ANNOTATION } from './images.ts';
import type { Surroundings } from './kubelet.ts';
import type { Observed } from './observe.ts';
import { containersOf, deadlineOf, graceMs, isSidecar } from './pod-spec.ts';
import type { Volume } from './runner.ts';
import { SIMULATE } from './simulated/index.ts';
import { statusOf } from './status.ts';

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
  | ({ readonly do: 'stop-container'; readonly graceMs: number } & OnContainer)
  | ({ readonly do: 'remove-pod' } & On);

type Wanted = { readonly steps: readonly KubeletStep[]; readonly lookAt?: number | undefined };

export function planPod(pod: Pod, observed: Observed, now: Date): Plan<KubeletStep, PodStatus> {
  if (observed.node === undefined) return { objects: [], steps: [], held: [], status: pod.status ?? {} };
  // It is written after the steps, and by then what can be prepared is.
  const isPrepared = observed.volumes.known;
  const status = statusOf(pod, { ...observed, node: observed.node, isPrepared }, now);
  const { steps, lookAt } = next(pod, observed, status, now.getTime());
  return {
    objects: [],
    steps: [
      ...observed.news.map((happening): KubeletStep => ({ do: 'tell', because: 'it is news', pod, happening })),
      ...steps,
    ],
    held: [],
    status,
    ...(!observed.volumes.known && {
      events: [{ type: 'Warning', reason: 'FailedMount', action: 'Mount', note: observed.volumes.because }],
    }),
    ...(lookAt !== undefined && {
      lookAgain: { afterMs: Math.max(1, lookAt - now.getTime()), because: 'a deadline or a backoff ends' },
    }),
  };
}

function next(pod: Pod, observed: Observed, status: PodStatus, now: number): Wanted {
  const unresumed = lostFromSight(pod, observed);
  if (unresumed.length > 0) return { steps: unresumed };
  const isOver = status.phase === 'Failed' || status.phase === 'Succeeded';
  if (pod.metadata.deletionTimestamp !== undefined) return windDown(pod, observed, status, now);
  if (isOver) return { steps: stopAll(pod, observed, 'the pod is at its end', graceMs(pod)) };
  if (observed.isPredecessorRunning) {
    return { steps: [{ do: 'end-predecessor', because: 'an earlier pod of this name still runs', pod }] };
  }
  const mark: readonly KubeletStep[] =
    pod.metadata.annotations?.[RUNNER_ANNOTATION] === observed.runner
      ? []
      : [{ do: 'mark-runner', because: 'users see how a pod is run', pod, runner: observed.runner }];
  if (!observed.volumes.known) return { steps: mark };
  const { value: volumes } = observed.volumes;
  const prepare: readonly KubeletStep[] = observed.isPrepared
    ? []
    : [{ do: 'prepare-pod', because: 'its volumes are not in place', pod, volumes }];
  const deadline = deadlineOf(pod);
  const run = runContainers(pod, observed, now);
  const lookAt = Math.min(run.lookAt ?? Infinity, deadline ?? Infinity);
  return {
    steps: [...mark, ...prepare, ...losses(pod, observed), ...run.steps],
    lookAt: lookAt === Infinity ? undefined : lookAt,
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

/** Containers first, then the sidecars that serve them, then the pod itself, once its status tells the end. */
function windDown(pod: Pod, observed: Observed, status: PodStatus, now: number): Wanted {
  const grace = graceMs(pod);
  const stopping = stopAll(pod, observed, 'the pod is being deleted', grace);
  if (stopping.length > 0) return { steps: stopping };
  const isRunning = [...observed.runs.values()].some(isBusy);
  if (isRunning || observed.isPredecessorRunning) return { steps: [], lookAt: now + grace };
  // Whoever watches learns how it ended: the status is written by this pass, and its event brings the next.
  if (!sameStatus(pod.status, status)) return { steps: [] };
  return { steps: [{ do: 'remove-pod', because: 'all its containers have ended', pod }] };
}

function stopAll(pod: Pod, { runs }: Observed, because: string, grace: number): readonly KubeletStep[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const running = (list: readonly Container[]) => list.filter(({ name }) => runs.get(name)?.state.is === 'running');
  const first = running([...containers, ...initContainers.filter((one) => !isSidecar(one))]);
  const turn = first.length > 0 ? first : running(initContainers).toReversed();
  return turn.flatMap((container) => {
    const state = runs.get(container.name)?.state;
    if (state?.is !== 'running' || state.isStopping) return [];
    return [{ do: 'stop-container', because, pod, container, graceMs: grace }];
  });
}

function runContainers(pod: Pod, observed: Observed, now: number): Wanted {
  const { runs } = observed;
  const { containers = [], initContainers = [], restartPolicy = 'Always' } = pod.spec ?? {};
  const wanted: Wanted[] = [];
  for (const container of initContainers) {
    const run = runs.get(container.name) ?? NEW_RUN;
    const policy = isSidecar(container) ? 'Always' : restartPolicy === 'Never' ? 'Never' : 'OnFailure';
    wanted.push(oneContainer(pod, container, observed, policy, now));
    // One after the other: the next waits for this one to be done, or to be up if it stays.
    if (!isPassed(container, run)) return all(wanted);
  }
  wanted.push(...containers.map((one) => oneContainer(pod, one, observed, restartPolicy, now)));
  return all(wanted);
}

function isPassed(container: Container, { state }: ContainerRun): boolean {
  if (isSidecar(container)) return state.is === 'running' && state.health.isStarted;
  return state.is === 'ended' && state.ending.exitCode === 0;
}

const all = (wanted: readonly Wanted[]): Wanted => {
  const times = wanted.flatMap(({ lookAt }) => (lookAt === undefined ? [] : [lookAt]));
  return { steps: wanted.flatMap(({ steps }) => steps), lookAt: times.length > 0 ? Math.min(...times) : undefined };
};

function oneContainer(
  pod: Pod,
  container: Container,
  { runs, references, facts }: Observed,
  policy: string,
  now: number,
): Wanted {
  const run = runs.get(container.name) ?? NEW_RUN;
  const { state } = run;
  if (state.is === 'starting') return { steps: [] };
  if (state.is === 'running') {
    const { unhealthy } = state.health;
    if (unhealthy === undefined || state.isStopping) return { steps: [] };
    const grace = (container.livenessProbe?.terminationGracePeriodSeconds ?? graceMs(pod) / 1000) * 1000;
    return { steps: [{ do: 'stop-container', because: unhealthy, pod, container, graceMs: grace }] };
  }
  const start = (because: string): Wanted => ({
    steps: [{ do: 'start-container', because, pod, container, references, facts }],
  });
  if (state.is === 'waiting') {
    const { failure } = state;
    if (failure === undefined) return start('it has not run yet');
    return failure.retryAt <= now
      ? start(`to try again after ${failure.reason}`)
      : { steps: [], lookAt: failure.retryAt };
  }
  const { exitCode } = state.ending;
  if (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0)) return { steps: [] };
  const at = restartAt(run);
  return at <= now ? start(`it ended with exit code ${exitCode}`) : { steps: [], lookAt: at };
}
