import type { Pod } from '@polder/kube';
import { isReady, readySince } from './state.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES = ['Pending', 'Unknown', 'Running'];

/**
 * The order in which surplus pods go: first those that do the least. Unscheduled before scheduled, pending before running,
 * unready before ready, cheap before dear, crowded before alone on their node, and among equals the youngest.
 */
export function deletionOrder(pods: readonly Pod[]): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of pods) {
    const node = spec?.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rank = (pod: Pod): readonly number[] => [
    pod.spec?.nodeName ? 1 : 0,
    PHASES.indexOf(pod.status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.[DELETION_COST] ?? 0),
    -(onNode.get(pod.spec?.nodeName ?? '') ?? 0),
    -(readySince(pod) ?? 0),
    -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    -Date.parse(pod.metadata.creationTimestamp ?? ''),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod) }));
  return ranked.toSorted((a, b) => compare(a.rank, b.rank)).map(({ pod }) => pod);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - (b[i] ?? 0);
  return 0;
}
