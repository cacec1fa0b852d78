import { type Deployment, findCondition, type Happening } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { SPEC_FILE } from '../objects/index.ts';
import type { Children } from '../observe.ts';
import { type Health, hashOf } from './health.ts';

/** What happens to the children of a flow, under the reasons that its users know. */
export function newsOfChildren(children: Children, spec: string, wanted: Deployment): readonly Happening[] {
  const { spec: config, deployment } = children;
  const isNewSpec = config?.data?.[SPEC_FILE] !== spec;
  const isNewProcessor =
    !deployment || hashOf(deployment) !== hashOf(wanted) || deployment.spec?.replicas !== wanted.spec?.replicas;
  return [
    ...(isNewSpec ? [written('ConfigMap', `${wanted.metadata.name}-spec`, config === undefined)] : []),
    ...(isNewProcessor ? [written('Deployment', wanted.metadata.name, deployment === undefined)] : []),
  ];
}

function written(kind: 'ConfigMap' | 'Deployment', name: string, isNew: boolean): Happening {
  const verb = isNew ? 'Created' : 'Updated';
  return { type: 'Normal', reason: `${kind}${verb}`, action: 'Apply', note: `${verb} ${kind} ${name}` };
}

/** What is new about how a flow is doing. That it begins to run is none: what was created said so. */
export function newsOfHealth({ status }: DataFlow, { phase, message, summary }: Health): readonly Happening[] {
  const before = findCondition(status?.conditions, 'Ready')?.reason;
  if (summary.is === 'stalled') {
    return summary.reason === before ? [] : [{ type: 'Warning', reason: summary.reason, action: 'Run', note: message }];
  }
  if (phase === status?.phase) return [];
  const normal = (reason: string): Happening => ({ type: 'Normal', reason, action: 'Run', note: message });
  if (phase === 'Stopped') return [normal('ProcessorStopped')];
  const wasDown = status?.phase === 'Error' || status?.phase === 'Stopped';
  return phase === 'Running' && wasDown ? [normal('ProcessorRunning')] : [];
}
