/**
 * Pods that do not come back by themselves. On a node that is not heard of, an eviction waits for a kubelet that may never
 * answer; a StatefulSet makes no second pod of a name meanwhile.
 */
import { findCondition, type Pod } from '@polder/kube';
import { podName } from '../objects/index.ts';
import type { PodSeen } from '../observe.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** After so long, Kubernetes detaches the volumes of a node that is not heard of. */
const SILENT_MS = 6 * 60_000;

/**
 * A pod that was evicted from a node that is not heard of. To let go of it by force is to take it for dead, and it may still
 * run there: what keeps a second peer from its volume is the volume itself, which is attached to one node at a time. (Where
 * it is not attached at all, as on NFS, nothing does: such nodes have to be shut down first.)
 */
export function lettingGo({ observed, now }: Situation): readonly ClusterStep[] {
  const isOver = (time: string | undefined, ms: number) => time !== undefined && now.getTime() - Date.parse(time) > ms;
  return observed.pods
    .filter(({ pod, silentSince }) => isOver(silentSince, SILENT_MS) && isOver(pod.metadata.deletionTimestamp, 0))
    .map(({ pod, silentSince }) => ({
      do: 'force-delete-pod',
      because: `its node ${pod.spec?.nodeName} has not been heard of since ${silentSince}`,
      pod,
    }));
}

/** As long as a peer may need before anything is said of it. */
const SLOW_MS = 5 * 60_000;
/** As long as its startup probe gives it. */
const SLOWEST_MS = 30 * 60_000;

/** Whether a pod was ever ready: it is so from its beginning that it is not. */
function wasNeverReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True' || metadata.creationTimestamp === undefined) return false;
  const since = Date.parse(ready?.lastTransitionTime ?? metadata.creationTimestamp);
  return since - Date.parse(metadata.creationTimestamp) < 60_000;
}

/** Never ready, and for long enough: what it was started with does not work, and to start it anew loses nothing. */
export function isBroken(pod: Pod, now: Date, ms = SLOW_MS): boolean {
  const { creationTimestamp, deletionTimestamp } = pod.metadata;
  if (creationTimestamp === undefined || deletionTimestamp !== undefined) return false;
  return wasNeverReady(pod) && now.getTime() - Date.parse(creationTimestamp) > ms;
}

/**
 * A pod that is to be there and whose peer is no member yet: it may well become one. One that has not after so long is not
 * waited for. Of a pod that nobody has made yet, it is not known since when it should be: no longer than the cluster is unready.
 */
export function comingIn({ cluster, observed, sight, now }: Situation): string | undefined {
  const members = [...sight.members, ...sight.missing].map(({ ordinal }) => ordinal);
  const ready = findCondition(cluster.status?.conditions, 'Ready');
  const unreadySince = ready?.status === 'False' ? ready.lastTransitionTime : undefined;
  const isRecent = (time: string | undefined) => time !== undefined && now.getTime() - Date.parse(time) < SLOW_MS;
  for (let ordinal = 0; ordinal < cluster.spec.replicas; ordinal++) {
    const pod = observed.pods.find((one) => one.ordinal === ordinal)?.pod;
    const since = pod ? pod.metadata.creationTimestamp : unreadySince;
    if (!members.includes(ordinal) && isRecent(since)) return podName(cluster, ordinal);
  }
  return undefined;
}

/** A peer that was a member before it was started as it is now, and has not been ready since. */
export function stuckIn({ cluster, observed, now }: Situation): PodSeen | undefined {
  const remembered = cluster.status?.peers?.map(({ pod }) => pod) ?? [];
  return observed.pods.find(
    ({ pod }) => remembered.includes(pod.metadata.name) && isBroken(pod, now, isWaiting(pod) ? SLOW_MS : SLOWEST_MS),
  );
}

const isWaiting = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ state }) => state?.waiting !== undefined) ?? false;

/** What its container waits for, or why it ended. */
export function whyStuck({ status }: Pod): string {
  const [waiting] = status?.containerStatuses?.flatMap(({ state }) => state?.waiting ?? []) ?? [];
  const text = [waiting?.reason, waiting?.message].filter((part) => part).join(': ');
  return text === '' ? 'it does not say why' : text;
}
