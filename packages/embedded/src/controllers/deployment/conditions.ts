/** Conditions of a deployment, which unlike others also tell when they were last looked into. */
import { type DeploymentCondition, timestamp } from '@polder/kube';

export type Conditions = readonly DeploymentCondition[];

export const PROGRESSING = 'Progressing';
export const AVAILABLE = 'Available';
export const REPLICA_FAILURE = 'ReplicaFailure';

export function conditionOf(conditions: Conditions | undefined, type: string): DeploymentCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function condition(
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: Date,
): DeploymentCondition {
  const time = timestamp(now);
  return { type, status, reason, message, lastUpdateTime: time, lastTransitionTime: time };
}

/** A condition that says the same for the same reason is not news, and stays as it is. */
export function withCondition(conditions: Conditions, next: DeploymentCondition): Conditions {
  const old = conditionOf(conditions, next.type);
  if (old?.status === next.status && old.reason === next.reason) return conditions;
  return withFreshCondition(conditions, next);
}

/** The condition anew, with its time of today; since when it is so stays, if it has been so. */
export function withFreshCondition(conditions: Conditions, next: DeploymentCondition): Conditions {
  const old = conditionOf(conditions, next.type);
  const since = old?.status === next.status ? old.lastTransitionTime : undefined;
  return [...withoutCondition(conditions, next.type), { ...next, ...(since && { lastTransitionTime: since }) }];
}

export function withoutCondition(conditions: Conditions, type: string): Conditions {
  return conditions.filter((condition) => condition.type !== type);
}
