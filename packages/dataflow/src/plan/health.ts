import type { Deployment, ReplicaSet, Summary } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { HASH_ANNOTATION } from '../objects/index.ts';
import type { Observed } from '../observe.ts';
import { type Trouble, troubleOf } from './trouble.ts';

export type Phase = NonNullable<NonNullable<DataFlow['status']>['phase']>;

/** How a flow is doing: for people, for tools that know DataFlows, and for those that know conditions alone. */
export interface Health {
  readonly phase: Phase;
  readonly message: string;
  readonly summary: Summary;
}

/** `wanted` is the Deployment as this pass applies it; `pause` says why it has no replicas, if it is to have none. */
export function healthOf(observed: Observed, wanted: Deployment, pause: string | undefined): Health {
  if (pause !== undefined) return stopped(observed, pause);
  const { deployment } = observed.children;
  const trouble = troubleOf(observed, hashOf(wanted));
  const replicas = wanted.spec?.replicas ?? 1;
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0, replicas: all = 0 } = deployment?.status ?? {};
  const isComplete = isCurrent(deployment, wanted) && updated === replicas && all === replicas && ready >= replicas;
  if (trouble) return troubled(trouble, ready, replicas);
  if (isComplete) return { phase: 'Running', message: running(ready, replicas), summary: { is: 'ready' } };
  if (ready === 0) return waiting('Pending', 'Processor pod is starting');
  const isReplaced = deployment !== undefined && hashOf(deployment) !== hashOf(wanted);
  return isReplaced || updated < replicas || all > replicas
    ? waiting('Running', 'Processor pod is being replaced')
    : waiting('Running', running(ready, replicas));
}

/** Nothing of a flow is changed because of this. */
export function blocked(phase: 'Pending' | 'Error', reason: string, because: string): Health {
  return { phase, message: because, summary: { is: 'stalled', reason, because } };
}

/** What the pods of a Deployment or of one of its ReplicaSets work with. */
export const hashOf = ({ spec }: Deployment | ReplicaSet): string | undefined =>
  spec?.template?.metadata?.annotations?.[HASH_ANNOTATION];

function isCurrent(deployment: Deployment | undefined, wanted: Deployment): boolean {
  if (!deployment) return false;
  const { metadata, spec, status } = deployment;
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return isObserved && hashOf(deployment) === hashOf(wanted) && spec?.replicas === wanted.spec?.replicas;
}

/** It comes to be by itself. */
export const waiting = (phase: Phase, message: string): Health => ({
  phase,
  message,
  summary: { is: 'reconciling', reason: 'ProcessorStarting', because: message },
});

function running(ready: number, replicas: number): string {
  if (replicas === 1) return 'Processor pod is running';
  return `${Math.min(ready, replicas)} of ${replicas} processor pods are running`;
}

function stopped({ pods }: Observed, pause: string): Health {
  if (pods.length === 0) return { phase: 'Stopped', message: pause, summary: { is: 'ready' } };
  const because = `${pods.length === 1 ? 'a processor pod has' : `${pods.length} processor pods have`} not ended yet`;
  return { phase: 'Stopped', message: pause, summary: { is: 'reconciling', reason: 'ProcessorStopping', because } };
}

/** While others do the work, the flow runs, and yet it is not as it should be. */
function troubled({ reason, because, mayPass }: Trouble, ready: number, replicas: number): Health {
  const message = ready > 0 ? `${running(ready, replicas)}; another one does not: ${because}` : because;
  const phase = ready > 0 ? 'Running' : mayPass ? 'Pending' : 'Error';
  return { phase, message, summary: { is: mayPass ? 'reconciling' : 'stalled', reason, because } };
}
