/** Whether a rollout gets anywhere: what `kubectl rollout status` waits for. */
import type { Deployment, DeploymentStatus, ReplicaSet } from '@polder/kube';
import {
  type Conditions,
  condition,
  conditionOf,
  PROGRESSING,
  withCondition,
  withFreshCondition,
} from './conditions.ts';
import { sizeOf } from './limits.ts';

/** What the API stands in for "never". */
const NEVER = 2 ** 31 - 1;
const DONE = 'NewReplicaSetAvailable';
const LATE = 'ProgressDeadlineExceeded';
const PAUSED = 'DeploymentPaused';

export function hasDeadline({ spec }: Deployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NEVER;
}

/** All pods are of the current revision and available, and there are no others. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const isSize = (count: number) => count === sizeOf(deployment);
  const hasSeen = observedGeneration >= (deployment.metadata.generation ?? 0);
  return isSize(updatedReplicas) && isSize(replicas) && isSize(availableReplicas) && hasSeen;
}

/** While a deployment is paused no deadline runs, and when it goes on the time begins anew. */
export function withPause(conditions: Conditions, deployment: Deployment, now: Date): Conditions {
  const reason = conditionOf(conditions, PROGRESSING)?.reason;
  if (!hasDeadline(deployment) || reason === LATE) return conditions;
  const isPaused = deployment.spec?.paused ?? false;
  if (isPaused === (reason === PAUSED)) return conditions;
  const [why, message] = isPaused ? [PAUSED, 'Deployment is paused'] : ['DeploymentResumed', 'Deployment is resumed'];
  return withCondition(conditions, condition(PROGRESSING, 'Unknown', why, message, now));
}

/** The condition after this pass: done, getting on, or too late; or as it was. */
export function withProgress(
  conditions: Conditions,
  deployment: Deployment,
  status: DeploymentStatus,
  current: ReplicaSet | undefined,
  now: Date,
): Conditions {
  const before = conditionOf(conditions, PROGRESSING);
  const hasOldPods = (status.replicas ?? 0) !== (status.updatedReplicas ?? 0);
  // A rollout that was done and has no old pods is done: pods that come and go since then are no new rollout.
  if (before?.reason === DONE && !hasOldPods) return conditions;
  const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`;
    return withCondition(conditions, condition(PROGRESSING, 'True', DONE, message, now));
  }
  if (isGettingOn(deployment.status ?? {}, status)) {
    const message = `${subject} is progressing.`;
    return withFreshCondition(conditions, condition(PROGRESSING, 'True', 'ReplicaSetUpdated', message, now));
  }
  const left = timeLeft(conditions, deployment, now);
  if (left === undefined || left >= 0) return conditions;
  const message = `${subject} has timed out progressing.`;
  return withCondition(conditions, condition(PROGRESSING, 'False', LATE, message, now));
}

/** More new pods, fewer old ones, or more that are ready or available than last time. */
function isGettingOn(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  const grew = (count: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') =>
    (after[count] ?? 0) > (before[count] ?? 0);
  return grew('updatedReplicas') || old(after) < old(before) || grew('readyReplicas') || grew('availableReplicas');
}

/** Milliseconds until the deadline, less than 0 after it; undefined if there is no deadline to miss. */
export function timeLeft(conditions: Conditions, deployment: Deployment, now: Date): number | undefined {
  const before = conditionOf(conditions, PROGRESSING);
  if (!before || !hasDeadline(deployment) || [DONE, LATE, PAUSED].includes(before.reason ?? '')) return undefined;
  const deadline = (deployment.spec?.progressDeadlineSeconds ?? 0) * 1000;
  return Date.parse(before.lastUpdateTime ?? '') + deadline - now.getTime();
}
