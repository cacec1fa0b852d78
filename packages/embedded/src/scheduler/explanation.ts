/** Why a pod has no node, word by word as the real scheduler says it: people search for these sentences. */
import type { Pod } from '@polder/kube';
import type { Refusal } from './refusal.ts';

export const NO_NODES = 'no nodes available to schedule pods';

/** Nothing about the nodes: the pod's claims have to change first. */
export function explainProblem(problem: string, nodes: number): string {
  // "not found" is what its search for devices to free says then; it belongs to nothing that a user knows.
  return `0/${nodes} nodes are available: ${problem}. not found`;
}

export function explainRefusals(pod: Pod, refusals: readonly Refusal[]): string {
  const reasons = tally(refusals.flatMap((refusal) => refusal.reasons));
  return `${available(refusals)} ${reasons}. no new claims to deallocate, preemption: ${preemption(pod, refusals)}`;
}

/** No pod is ever moved out of the way here, as if none were less important. */
function preemption({ spec }: Pod, refusals: readonly Refusal[]): string {
  if (spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const outcomes = refusals.map(({ isFinal }) =>
    isFinal ? 'Preemption is not helpful for scheduling' : 'No preemption victims found for incoming pod',
  );
  return `${available(refusals)} ${tally(outcomes)}.`;
}

const available = (refusals: readonly Refusal[]) => `0/${refusals.length} nodes are available:`;

/** `1 Too many pods, 2 Insufficient cpu`: sorted as text. */
function tally(reasons: readonly string[]): string {
  const counts = Map.groupBy(reasons, (reason) => reason);
  return [...counts]
    .map(([reason, all]) => `${all.length} ${reason}`)
    .toSorted()
    .join(', ');
}
