import {
  type Container,
  type ContainerState as ContainerStateStatus,
  type ContainerStatus,
  type Pod,
  type PodCondition,
  type PodStatus,
  timestamp,
} from '@polder/kube';
import {
  backoffOf,
  type ContainerRun,
  type Ended,
  lastEnd,
  NEW_RUN,
  type SettledRun,
  type StartProblem,
  settled,
} from './container-run.ts';
import type { Observed } from './observe.ts';
import { isAnyBusy, isTerminal, type Phase, phaseOf } from './phase.ts';
import { isInit, isRestarted, isSidecar } from './pod-spec.ts';

type OnNode = Pick<Observed, 'runs' | 'runner' | 'address' | 'isPrepared'> & {
  readonly node: NonNullable<Observed['node']>;
};

/** The whole status of a pod that is on one of our nodes, as the kubelet of a real node would report it. */
export function statusOf(pod: Pod, observed: OnNode, now: Date): PodStatus {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const statuses = (list: readonly Container[]) => list.map((one) => containerStatus(pod, one, observed, now));
  const [inits, mains] = [statuses(initContainers), statuses(containers)];
  const life = phaseOf(pod, observed.runs, now.getTime());
  const { phase, reason, message } = told(pod, life, observed.runs);
  const address = observed.address ?? pod.status?.podIP;
  const { generation } = pod.metadata;
  return {
    ...pod.status,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    hostIP: observed.node.address,
    hostIPs: [{ ip: observed.node.address }],
    ...(address !== undefined && { podIP: address, podIPs: [{ ip: address }] }),
    startTime: pod.status?.startTime ?? timestamp(now.getTime()),
    conditions: conditionsOf(pod, observed, inits, mains, life.phase, now),
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    containerStatuses: mains,
  };
}

/** That a pod has ended is told once nothing of it runs: others take its place, and two of one identity must not run at once. */
function told({ status }: Pod, life: Phase, runs: OnNode['runs']): Omit<Phase, 'isOver'> {
  const isNews = isTerminal(life.phase) && !isTerminal(status?.phase);
  return isNews && isAnyBusy(runs) ? { phase: status?.phase ?? 'Pending' } : life;
}

function containerStatus(pod: Pod, container: Container, observed: OnNode, now: Date): ContainerStatus {
  const { name, image = '' } = container;
  const run = settled(observed.runs.get(name) ?? NEW_RUN);
  const { state, restartCount } = run;
  const id = (count: number) => `${observed.runner}://${pod.metadata.uid}/${name}/${count}`;
  const shown = stateOf(pod, container, run, id, now);
  // What waits to be started again ended before: then that is the last that was heard of it.
  const last = shown.waiting && lastEnd(run) ? { end: lastEnd(run), count: restartCount } : undefined;
  const before = last ?? { end: run.last, count: Math.max(0, restartCount - 1) };
  const hasRun = state.is === 'running' || lastEnd(run) !== undefined;
  return {
    name,
    image,
    imageID: hasRun ? `${observed.runner}://${image}` : '',
    ready: isReady(pod, container, run),
    started: state.is === 'running' && state.health.isStarted,
    restartCount,
    state: shown,
    lastState: before.end ? { terminated: terminated(before.end, id(before.count)) } : {},
    ...(hasRun && { containerID: id(restartCount) }),
  };
}

/** An init container counts as ready once it did its work, and not before. */
function isReady(pod: Pod, container: Container, { state }: SettledRun): boolean {
  if (isInit(pod, container)) return state.is === 'ended' && state.ending.exitCode === 0;
  return state.is === 'running' && state.health.isReady;
}

function stateOf(
  pod: Pod,
  container: Container,
  run: SettledRun,
  id: (count: number) => string,
  now: Date,
): ContainerStateStatus {
  const { state } = run;
  if (state.is === 'running') return { running: { startedAt: timestamp(state.startedAt) } };
  if (state.is === 'waiting') {
    if (state.problem) return { waiting: waitingFor(container, state.problem, now) };
    const hasInits = (pod.spec?.initContainers?.length ?? 0) > 0;
    return { waiting: { reason: hasInits ? 'PodInitializing' : 'ContainerCreating' } };
  }
  if (isBackingOff(pod, container, run)) {
    const message = `back-off ${duration(backoffOf(run, state))} restarting failed container=${container.name} pod=${fullNameOf(pod)}`;
    return { waiting: { reason: 'CrashLoopBackOff', message } };
  }
  return { terminated: terminated(state, id(run.restartCount)) };
}

/** An image that could not be pulled is an error first, and then one that is waited for. */
function waitingFor({ image = '' }: Container, problem: StartProblem, now: Date) {
  const { reason, message } = problem;
  if (reason !== 'ErrImagePull' || now.getTime() < pullBackOffAt(problem)) return { reason, message };
  return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}": ${reason}: ${message}` };
}

export const pullBackOffAt = ({ at, retryAt }: StartProblem) => at + (retryAt - at) / 2;

const duration = (ms: number) =>
  ms < 60_000 ? `${ms / 1000}s` : `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;

export const fullNameOf = ({ metadata: { name, namespace, uid } }: Pod) => `${name}_${namespace}(${uid})`;

/** Whether it has ended and waits for its restart. */
export function isBackingOff(pod: Pod, container: Container, run: ContainerRun): boolean {
  const { state } = settled(run);
  if (state.is !== 'ended' || backoffOf(run, state) === 0) return false;
  // Of a pod whose end has come, nothing is restarted.
  if (pod.metadata.deletionTimestamp !== undefined || isTerminal(pod.status?.phase)) return false;
  return isRestarted(pod, container, state.ending.exitCode);
}

function terminated({ startedAt, ending }: Ended, containerID: string) {
  return {
    exitCode: ending.exitCode,
    reason: ending.reason ?? (ending.exitCode === 0 ? 'Completed' : 'Error'),
    ...(ending.signal !== undefined && { signal: ending.signal }),
    ...(ending.message !== undefined && { message: ending.message }),
    startedAt: timestamp(startedAt),
    finishedAt: timestamp(ending.at),
    containerID,
  };
}

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;
const TRUE: Verdict = { status: 'True' };

function conditionsOf(
  pod: Pod,
  observed: OnNode,
  inits: readonly ContainerStatus[],
  mains: readonly ContainerStatus[],
  phase: PodStatus['phase'],
  now: Date,
): readonly PodCondition[] {
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const uninitialized = inits.filter(({ name, ready, started }) => !(sidecars.has(name) ? started : ready));
  const hasStarted = mains.some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated);
  const unready = [...inits.filter(({ name }) => sidecars.has(name)), ...mains].filter(({ ready }) => !ready);
  const ready = readiness(phase, unready);
  const old = pod.status?.conditions ?? [];
  const verdicts: Readonly<Record<string, Verdict>> = {
    PodReadyToStartContainers: { status: observed.isPrepared && !isTerminal(phase) ? 'True' : 'False' },
    Initialized:
      phase === 'Succeeded' || hasStarted || uninitialized.length === 0
        ? { ...TRUE, ...(phase === 'Succeeded' && { reason: 'PodCompleted' }) }
        : {
            status: 'False',
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: [${uninitialized.map(({ name }) => name).join(' ')}]`,
          },
    Ready: ready.status === 'True' ? gated(pod) : ready,
    ContainersReady: ready,
    // Whoever placed it has said so; a pod that was made with its node has not been placed by anybody.
    ...(!old.some(({ type }) => type === 'PodScheduled') && { PodScheduled: TRUE }),
  };
  const kept = old.filter(({ type }) => !(type in verdicts));
  const { generation } = pod.metadata;
  return [
    ...Object.entries(verdicts).map(([type, verdict]): PodCondition => {
      const before = old.find((one) => one.type === type);
      const since = before?.status === verdict.status ? before.lastTransitionTime : undefined;
      return {
        type,
        ...verdict,
        ...(generation !== undefined && { observedGeneration: generation }),
        lastTransitionTime: since ?? timestamp(now.getTime()),
      };
    }),
    ...kept,
  ];
}

function readiness(phase: PodStatus['phase'], unready: readonly ContainerStatus[]): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (unready.length === 0) return TRUE;
  const names = unready.map(({ name }) => name).join(' ');
  return { status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` };
}

/** Somebody else's word counts too: the pod's readiness gates. */
function gated({ spec, status }: Pod): Verdict {
  const types = (spec?.readinessGates ?? []).map(({ conditionType }) => conditionType);
  const closed = types.filter((type) => !status?.conditions?.some((one) => one.type === type && one.status === 'True'));
  if (closed.length === 0) return TRUE;
  const messages = closed.map((type) => {
    const condition = status?.conditions?.find((one) => one.type === type);
    return condition
      ? `the status of pod readiness gate "${type}" is not "True", but ${condition.status}`
      : `corresponding condition of pod readiness gate "${type}" does not exist.`;
  });
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
