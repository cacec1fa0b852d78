import type { ContainerStatus, Deployment, Pod } from '@polder/kube';
import { HASH_ANNOTATION, PROCESSOR } from '../objects/index.ts';
import type { Observed } from '../observe.ts';
import { lastWords } from './last-words.ts';

/** What keeps a processor from running. */
export interface Trouble {
  /** One word, for conditions and events. */
  readonly reason: string;
  readonly because: string;
  /** It may pass by itself. */
  readonly mayPass: boolean;
}

/** The first thing that is wrong with the processors of this template; pods of an earlier one are on their way out. */
export function troubleOf({ children, pods }: Observed, template: string | undefined): Trouble | undefined {
  const { deployment } = children;
  const current = pods.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined && metadata.annotations?.[HASH_ANNOTATION] === template,
  );
  const isCounted = (deployment?.status?.readyReplicas ?? 0) > 0;
  for (const pod of current) {
    const trouble = troubleWith(pod, isCounted);
    if (trouble) return trouble;
  }
  return deployment && refusalOf(deployment);
}

function troubleWith(pod: Pod, isCounted: boolean): Trouble | undefined {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === PROCESSOR);
  return (container && troubleIn(container, isCounted)) ?? unplaced(pod);
}

/** The kubelet's words for an image that it does not get. */
const IMAGE: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
]);
const NOT_MADE: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

function troubleIn(container: ContainerStatus, isCounted: boolean): Trouble | undefined {
  const { state = {}, lastState = {}, image, ready } = container;
  const { reason = '', message = '' } = state.waiting ?? {};
  if (IMAGE.has(reason)) {
    const because = `Processor image ${image} can't be pulled: ${pullError(message) || reason}`;
    return { reason: 'ImagePullFailed', because, mayPass: false };
  }
  if (NOT_MADE.has(reason)) {
    return { reason: 'ContainerFailed', because: `Processor can't be started: ${message || reason}`, mayPass: false };
  }
  const ended = state.terminated ?? lastState.terminated;
  // One that runs again after it failed is no better off until it is ready, and its Deployment has seen it.
  if (!ended || (ready && isCounted) || (ended.exitCode === 0 && reason !== 'CrashLoopBackOff')) return undefined;
  const words = lastWords(ended.message) || ended.reason || 'it left no message';
  return {
    reason: 'ProcessorFailed',
    because: `Processor failed with exit code ${ended.exitCode}: ${words}`,
    mayPass: false,
  };
}

/** A kubelet that waits before it tries again puts this before what went wrong. */
const pullError = (message: string) => message.replace(/^Back-off pulling image "[^"]*":? ?/, '');

function unplaced({ status }: Pod): Trouble | undefined {
  const placed = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (placed?.status !== 'False' || placed.reason !== 'Unschedulable') return undefined;
  return {
    reason: 'Unschedulable',
    because: `Processor pod can't be placed: ${placed.message ?? 'no node would do'}`,
    mayPass: true,
  };
}

/** What a Deployment says when it gets no pods at all, or none that ever becomes ready. */
function refusalOf({ status }: Deployment): Trouble | undefined {
  const find = (type: string, value: string) =>
    status?.conditions?.find((condition) => condition.type === type && condition.status === value);
  const refused = find('ReplicaFailure', 'True');
  if (refused) {
    const because = `Processor pod can't be made: ${refused.message ?? refused.reason ?? 'it was refused'}`;
    return { reason: 'PodRefused', because, mayPass: false };
  }
  if (find('Progressing', 'False')?.reason !== 'ProgressDeadlineExceeded') return undefined;
  const because = 'Processor runs but does not become ready: it may not reach its source or a sink; its log says more';
  return { reason: 'ProcessorNotReady', because, mayPass: true };
}
