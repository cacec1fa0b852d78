import type { Pod } from '@polder/kube';
import { isFailed, isTerminating, podCondition } from '../controllers/pods/index.ts';
import { claimNamesOf } from './volumes.ts';

/** The name by which pods ask for this scheduler; the API server fills it in. */
const OUR_NAME = 'default-scheduler';

/**
 * - `placed`: it takes up room on its node.
 * - `untried`, `refused`: it waits for a node, and no decision was made yet, or the last one was that there is none.
 * - `choosing`: it waits for a node and has claims, which may have to be bound first.
 * - `gated`: somebody has to lift its gates before it waits for a node.
 * - `aside`: none of a scheduler's business, or no longer.
 */
export type PodState = 'placed' | 'untried' | 'refused' | 'choosing' | 'gated' | 'aside';

export function stateOf(pod: Pod): PodState {
  const { nodeName = '', schedulerName = OUR_NAME, schedulingGates = [] } = pod.spec ?? {};
  if (isFailed(pod) || pod.status?.phase === 'Succeeded') return 'aside';
  if (nodeName !== '') return 'placed';
  if (isTerminating(pod) || schedulerName !== OUR_NAME) return 'aside';
  if (schedulingGates.length > 0) return 'gated';
  const scheduled = podCondition(pod, 'PodScheduled');
  if (scheduled?.status === 'False' && scheduled.reason === UNSCHEDULABLE) return 'refused';
  return claimNamesOf(pod).length > 0 ? 'choosing' : 'untried';
}

export const UNSCHEDULABLE = 'Unschedulable';
