import type { Pod } from '@polder/kube';
import { isFailed, isTerminating } from '../controllers/pods/index.ts';

/** The name by which pods ask for this scheduler; the API server fills it in. */
const OUR_NAME = 'default-scheduler';

/**
 * - `placed`: it takes up room on its node.
 * - `waiting`: it is to get a node.
 * - `aside`: none of a scheduler's business; no longer, or not yet (somebody has to lift its gates first).
 */
export type PodState = 'placed' | 'waiting' | 'aside';

export function stateOf(pod: Pod): PodState {
  const { nodeName = '', schedulerName = OUR_NAME, schedulingGates = [] } = pod.spec ?? {};
  if (isFailed(pod) || pod.status?.phase === 'Succeeded') return 'aside';
  if (nodeName !== '') return 'placed';
  if (isTerminating(pod) || schedulerName !== OUR_NAME) return 'aside';
  return schedulingGates.length > 0 ? 'aside' : 'waiting';
}
