import type { Deployment, DeploymentStatus, ReplicaSet, ReplicaSetStatus } from '@polder/kube';
import {
  AVAILABLE,
  type Conditions,
  condition,
  PROGRESSING,
  REPLICA_FAILURE,
  withCondition,
  withoutCondition,
} from './conditions.ts';
import { minAvailable } from './limits.ts';
import { type Draft, setsOf } from './plan/draft.ts';
import { total } from './plan/sets.ts';
import { hasDeadline, withProgress } from './progress.ts';
import { SetRefused } from './steps.ts';

/** What the sets say of their pods, added up. Counts of zero are left out, but for the pods that are on their way out. */
export function countsOf(draft: Draft, now: Date): DeploymentStatus {
  const { deployment, current, conditions, collisionCount } = draft;
  const sets = setsOf(draft);
  const available = sum(sets, 'availableReplicas');
  const counts = {
    replicas: sum(sets, 'replicas'),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum(sets, 'readyReplicas'),
    availableReplicas: available,
    // More can be available than wanted: those of a set that was scaled down and has not got round to it.
    unavailableReplicas: Math.max(0, total(sets) - available),
  };
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: sum(sets, 'terminatingReplicas'),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withAvailability(conditions, deployment, available, now),
  };
}

/** The counts, and how far the rollout has got. */
export function rolloutStatusOf(draft: Draft, now: Date): DeploymentStatus {
  const { deployment, current } = draft;
  const status = countsOf(draft, now);
  const { conditions = [] } = status;
  const progress = hasDeadline(deployment)
    ? withProgress(conditions, deployment, status, current, now)
    : withoutCondition(conditions, PROGRESSING);
  return { ...status, conditions: withFailure(progress, draft) };
}

function withAvailability(conditions: Conditions, deployment: Deployment, available: number, now: Date): Conditions {
  const next =
    available >= minAvailable(deployment)
      ? condition(AVAILABLE, 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
      : condition(
          AVAILABLE,
          'False',
          'MinimumReplicasUnavailable',
          'Deployment does not have minimum availability.',
          now,
        );
  return withCondition(conditions, next);
}

/** What keeps a set from having its pods, the current one's trouble first. */
function withFailure(conditions: Conditions, { current, old }: Draft): Conditions {
  const failure = [current, ...old].map((set) => failureOf(set)).find((one) => one !== undefined);
  if (!failure) return withoutCondition(conditions, REPLICA_FAILURE);
  const { lastTransitionTime } = failure;
  return withCondition(conditions, { ...failure, ...(lastTransitionTime && { lastUpdateTime: lastTransitionTime }) });
}

function failureOf(set: ReplicaSet | undefined) {
  return set?.status?.conditions?.find(({ type }) => type === REPLICA_FAILURE);
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas';

function sum(sets: readonly ReplicaSet[], count: Count & keyof ReplicaSetStatus): number {
  return sets.reduce((all, { status }) => all + (status?.[count] ?? 0), 0);
}

/** A deployment whose new set is refused says so: nothing else will tell why no pod comes. */
export function statusOfFailure(deployment: Deployment, error: unknown, now: Date): DeploymentStatus {
  const before = deployment.status ?? {};
  if (!(error instanceof SetRefused) || !hasDeadline(deployment)) return before;
  const refused = condition(PROGRESSING, 'False', 'ReplicaSetCreateError', error.message, now);
  return { ...before, conditions: withCondition(before.conditions ?? [], refused) };
}
