import type { ContainerStatus, Pod } from '@polder/kube';
import { isActive, isReady, readySince } from './state.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES = ['Pending', 'Unknown', 'Running'];

export interface Standing {
  readonly now: Date;
  /** Pods beside which it is a waste to have another one on the same node: those of the whole deployment. */
  readonly related: readonly Pod[];
}

/**
 * The order in which surplus pods go: first those that do the least. Unscheduled before scheduled, pending before running,
 * unready before ready, cheap before dear, crowded before alone on their node, ready for a short while before long,
 * restarted often before seldom, young before old; and among equals whoever the uid names first, which is as good as chance.
 */
export function deletionOrder(pods: readonly Pod[], { now, related }: Standing): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of related.filter(isActive)) {
    const node = spec?.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rank = (pod: Pod): readonly number[] => [
    pod.spec?.nodeName ? 1 : 0,
    PHASES.indexOf(pod.status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    deletionCost(pod),
    -(onNode.get(pod.spec?.nodeName ?? '') ?? 0),
    ageClass(readySince(pod), now),
    ...restarts(pod),
    ageClass(Date.parse(pod.metadata.creationTimestamp ?? ''), now),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod) }));
  return ranked.toSorted((a, b) => compare(a.rank, b.rank) || compareUids(a.pod, b.pod)).map(({ pod }) => pod);
}

/** A cost that is no number counts as none at all. */
function deletionCost({ metadata }: Pod): number {
  const cost = metadata.annotations?.[DELETION_COST] ?? '0';
  return /^(0|-?[1-9]\d{0,9})$/.test(cost) ? Number(cost) : 0;
}

/**
 * Ages count by their magnitude: pods that are 10 and 11 days old are equally old. Always taking the very youngest would
 * undo a zone that was restarted last, pod by pod. What has no time is younger than all that has one.
 */
function ageClass(since: number | undefined, now: Date): number {
  if (since === undefined || Number.isNaN(since)) return -2;
  const ms = now.getTime() - since;
  return ms > 0 ? Math.floor(Math.log2(ms * 1e6)) : -1;
}

/** Of containers, and among equals of sidecars; the more, the sooner. */
function restarts({ spec, status }: Pod): readonly number[] {
  const isSidecar = ({ name }: ContainerStatus) =>
    spec?.initContainers?.some((one) => one.name === name && one.restartPolicy === 'Always') ?? false;
  const most = (statuses: readonly ContainerStatus[] = []) =>
    Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
  return [-most(status?.containerStatuses), -most(status?.initContainerStatuses?.filter(isSidecar))];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - (b[i] ?? 0);
  return 0;
}

const compareUids = ({ metadata: { uid: a = '' } }: Pod, { metadata: { uid: b = '' } }: Pod) =>
  a < b ? -1 : Number(a > b);
