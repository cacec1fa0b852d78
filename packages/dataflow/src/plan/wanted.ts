import type { Deployment } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import type { Workload } from '../objects/index.ts';
import type { Children } from '../observe.ts';
import type { FlowStep } from './step.ts';

export const RESET_ANNOTATION = 'dataflow.dataflow.io/reset-checkpoint';

/** Whether somebody asks to read the source from the beginning, once. */
export const asksForReset = ({ metadata, spec }: DataFlow): boolean =>
  spec['checkpointReset'] === true || metadata.annotations?.[RESET_ANNOTATION] === 'true';

/** What should be done beyond applying objects, if the rules let it. */
export function wantedSteps(flow: DataFlow, workload: Workload, children: Children): readonly FlowStep[] {
  return [...removals(workload, children), ...(asksForReset(flow) ? [reset(flow, workload, children)] : [])];
}

/** What an earlier spec needed and this one does not. A checkpoint is not among it: it may be wanted again. */
function removals(
  { files, spec, isCheckpointed }: Workload,
  { secrets, budget, ...access }: Children,
): readonly FlowStep[] {
  const { account, role, binding } = access;
  const steps: FlowStep[] = [];
  if (secrets && files.secrets === undefined) {
    steps.push({ do: 'remove-secrets', because: 'no secret has to be kept in it', secret: secrets });
  }
  if (budget && spec.replicas <= 1) {
    steps.push({ do: 'remove-budget', because: 'there is one processor', budget });
  }
  if ((account ?? role ?? binding) && !isCheckpointed) {
    steps.push({ do: 'remove-access', because: 'no checkpoint is kept', access: { account, role, binding } });
  }
  return steps;
}

function reset(flow: DataFlow, { isCheckpointed }: Workload, { checkpoint }: Children): FlowStep {
  if (!isCheckpointed) return { do: 'ignore-reset', because: 'this flow keeps no checkpoint', flow };
  return { do: 'reset-checkpoint', because: 'a reset was asked for', flow, checkpoint };
}

/**
 * On the way to a source that is polled, all processors stop before anything of it is shown to them. A pod reads the spec that
 * is there when it starts, not the one that it was made for: those of a Deployment that may have several would all read the
 * source. And no strategy is set in the middle of a rollout: with two ReplicaSets at work, a Deployment that is told Recreate
 * and another number of replicas does nothing any more (v1.36).
 *
 * Recreate is set before the Deployment is applied: beside another strategy a server fills in fields that belong to nobody, no
 * apply takes them away, and beside Recreate they are refused (v1.36, and the same with null).
 */
export function turning(live: Deployment | undefined, wanted: Deployment): readonly FlowStep[] {
  if (!live?.spec?.strategy?.rollingUpdate || wanted.spec?.strategy?.type !== 'Recreate') return [];
  const because = 'no two processors may read its source at once';
  const isStopped = live.spec.replicas === 0;
  return [
    ...(isStopped ? [] : [{ do: 'stop-processor' as const, because, deployment: live }]),
    { do: 'set-recreate', because, deployment: live },
  ];
}

/** Somebody wants a flow stopped whose Deployment can't be applied. */
export function stopping({ spec }: DataFlow, deployment: Deployment | undefined): readonly FlowStep[] {
  if (!isSuspended(spec['maintenance']) || !deployment || deployment.spec?.replicas === 0) return [];
  return [{ do: 'stop-processor', because: 'spec.maintenance.suspended is true', deployment }];
}

const isSuspended = (maintenance: unknown): boolean =>
  typeof maintenance === 'object' &&
  maintenance !== null &&
  'suspended' in maintenance &&
  maintenance.suspended === true;
