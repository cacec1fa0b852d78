import type {
  Container,
  ContainerState as ContainerStateStatus,
  ContainerStatus,
  Pod,
  PodCondition,
  PodStatus,
} from '@polder/kube';
import { type Ended, NEW_RUN, type SettledRun, settled } from './container-run.ts';
import type { Observed } from './observe.ts';
import { deadlineOf, isSidecar } from './pod-spec.ts';

type OnNode = Observed & { readonly node: NonNullable<Observed['node']> };

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** The whole status of a pod that is on one of our nodes, as the kubelet of a real node would report it. */
export function statusOf(pod: Pod, observed: OnNode, now: Date): PodStatus {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const statuses = (list: readonly Container[]) => list.map((one) => containerStatus(pod, one, observed));
  const [inits, mains] = [statuses(initContainers), statuses(containers)];
  const ending = endOf(pod, now.getTime());
  const address = observed.address ?? pod.status?.podIP;
  const { generation } = pod.metadata;
  return {
    ...pod.status,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: ending?.phase ?? phaseOf(pod, observed),
    ...(ending?.reason && { reason: ending.reason, message: ending.message }),
    hostIP: observed.node.address,
    hostIPs: [{ ip: observed.node.address }],
    ...(address !== undefined && { podIP: address, podIPs: [{ ip: address }] }),
    startTime: pod.status?.startTime ?? timeOf(now.getTime()),
    conditions: conditionsOf(pod, observed, inits, mains, ending?.phase ?? phaseOf(pod, observed), now),
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    containerStatuses: mains,
  };
}

interface End {
  readonly phase: 'Failed' | 'Succeeded';
  readonly reason?: string;
  readonly message?: string;
}

/** An end that stays, or one that the clock brings about. */
function endOf(pod: Pod, now: number): End | undefined {
  const { phase, reason, message } = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') {
    return { phase, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  }
  if ((deadlineOf(pod) ?? Infinity) <= now) {
    const message = 'Pod was active on the node longer than the specified deadline';
    return { phase: 'Failed', reason: 'DeadlineExceeded', message };
  }
  return undefined;
}

function phaseOf(pod: Pod, { runs, isPrepared }: OnNode): NonNullable<PodStatus['phase']> {
  const { containers = [], initContainers = [], restartPolicy = 'Always' } = pod.spec ?? {};
  const runOf = ({ name }: Container) => settled(runs.get(name) ?? NEW_RUN);
  for (const container of initContainers) {
    const { state } = runOf(container);
    const hasFailed = state.is === 'ended' && state.ending.exitCode !== 0;
    if (hasFailed && restartPolicy === 'Never' && !isSidecar(container)) return 'Failed';
    const isDone = isSidecar(container) ? state.is === 'running' : state.is === 'ended' && !hasFailed;
    const hasRunBefore = containers.some((one) => runOf(one).state.is !== 'waiting');
    if (!isDone && !hasRunBefore) return 'Pending';
  }
  const all = containers.map(runOf);
  if (!isPrepared && all.every(({ state }) => state.is === 'waiting')) return 'Pending';
  if (all.some(({ state, last }) => state.is === 'waiting' && last === undefined)) return 'Pending';
  if (all.some(({ state }) => state.is !== 'ended') || restartPolicy === 'Always') return 'Running';
  const hasSucceeded = all.every(({ state }) => state.is === 'ended' && state.ending.exitCode === 0);
  const hasSidecars = initContainers.some((one) => isSidecar(one) && runOf(one).state.is === 'running');
  if (hasSucceeded) return hasSidecars ? 'Running' : 'Succeeded';
  if (restartPolicy === 'OnFailure') return 'Running';
  return hasSidecars ? 'Running' : 'Failed';
}

function containerStatus(pod: Pod, container: Container, observed: OnNode): ContainerStatus {
  const { name, image = '' } = container;
  const run = settled(observed.runs.get(name) ?? NEW_RUN);
  const reported = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  const before = observed.runs.has(name) ? undefined : reported.find((one) => one.name === name);
  // Of what was started before this program, the last report holds until we have looked.
  if (before?.state && !before.state.waiting) return before;
  const id = (count: number) => `${observed.runner}://${pod.metadata.uid}/${name}/${count}`;
  const isRunning = run.state.is === 'running';
  const restartCount = Math.max(run.restartCount, before?.restartCount ?? 0);
  return {
    name,
    image,
    imageID: isRunning || run.state.is === 'ended' ? `${observed.runner}://${image}` : '',
    ready: isRunning ? run.state.health.isReady : isInitDone(pod, name, run),
    started: isRunning && run.state.health.isStarted,
    restartCount,
    state: stateOf(pod, container, run, id),
    lastState: run.last
      ? { terminated: terminated(run.last, id(Math.max(0, restartCount - 1))) }
      : (before?.lastState ?? {}),
    ...(run.state.is !== 'waiting' && { containerID: id(restartCount) }),
  };
}

/** An init container that did its work counts as ready. */
function isInitDone(pod: Pod, name: string, { state }: SettledRun): boolean {
  const isInit = pod.spec?.initContainers?.some((one) => one.name === name && !isSidecar(one)) ?? false;
  return isInit && state.is === 'ended' && state.ending.exitCode === 0;
}

function stateOf(pod: Pod, container: Container, run: SettledRun, id: (count: number) => string): ContainerStateStatus {
  const { state } = run;
  if (state.is === 'running') return { running: { startedAt: timeOf(state.startedAt) } };
  if (state.is === 'waiting') {
    if (state.failure) return { waiting: { reason: state.failure.reason, message: state.failure.message } };
    const isInit = pod.spec?.initContainers?.includes(container) ?? false;
    const hasInits = (pod.spec?.initContainers?.length ?? 0) > 0;
    return { waiting: { reason: hasInits && !isInit ? 'PodInitializing' : 'ContainerCreating' } };
  }
  if (isBackingOff(pod, container, run)) {
    const seconds = Math.round(run.backoffMs / 1000);
    const { name, namespace, uid } = pod.metadata;
    const message = `back-off ${seconds === 300 ? '5m0s' : duration(seconds)} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
    return { waiting: { reason: 'CrashLoopBackOff', message } };
  }
  return { terminated: terminated(state, id(run.restartCount)) };
}

const duration = (seconds: number) => (seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`);

function isBackingOff(pod: Pod, container: Container, { state, backoffMs }: SettledRun): boolean {
  if (state.is !== 'ended' || backoffMs === 0 || pod.metadata.deletionTimestamp !== undefined) return false;
  const policy = isSidecar(container) ? 'Always' : (pod.spec?.restartPolicy ?? 'Always');
  const isInit = pod.spec?.initContainers?.includes(container) ?? false;
  if (policy === 'Never') return false;
  return state.ending.exitCode !== 0 || (policy === 'Always' && (!isInit || isSidecar(container)));
}

function terminated({ startedAt, ending }: Ended, containerID: string) {
  return {
    exitCode: ending.exitCode,
    reason: ending.reason ?? (ending.exitCode === 0 ? 'Completed' : 'Error'),
    ...(ending.signal !== undefined && { signal: ending.signal }),
    ...(ending.message !== undefined && { message: ending.message }),
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(ending.at),
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
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const uninitialized = inits.filter(({ name, ready, started }) => !(sidecars.has(name) ? started : ready));
  const hasStarted = mains.some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated);
  const unready = [...inits.filter(({ name }) => sidecars.has(name)), ...mains].filter(({ ready }) => !ready);
  const ready = readiness(phase, unready);
  const old = pod.status?.conditions ?? [];
  const verdicts: Readonly<Record<string, Verdict>> = {
    PodReadyToStartContainers: { status: observed.isPrepared && !isOver ? 'True' : 'False' },
    Initialized:
      hasStarted || uninitialized.length === 0
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
        lastTransitionTime: since ?? timeOf(now.getTime()),
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
    const isThere = status?.conditions?.some((one) => one.type === type) ?? false;
    return isThere
      ? `the status of pod readiness gate "${type}" is not "True", but False`
      : `corresponding condition of pod readiness gate "${type}" does not exist.`;
  });
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
