import { Deployment, type DeploymentStatus, type Plan, type ReplicaSet } from '@polder/kube';
import { claimant, claimsOf } from '../../ownership.ts';
import { isRolling } from '../limits.ts';
import type { Observed } from '../observe.ts';
import { timeLeft, withPause } from '../progress.ts';
import { REVISION } from '../revisions.ts';
import { countsOf, rolloutStatusOf } from '../status.ts';
import { sameTemplate } from '../template.ts';
import { created, refreshed } from './current-set.ts';
import { type DeploymentStep, type Draft, setsOf, withStep } from './draft.ts';
import { forgetful } from './history.ts';
import { recreated } from './recreate.ts';
import { rollbackRequest, rolledBack } from './rollback.ts';
import { rolled } from './rolling.ts';
import { proportioned } from './scaling.ts';
import { active, byAge, knowsAnotherSize } from './sets.ts';

export type { DeploymentStep } from './draft.ts';

export function planDeployment(
  deployment: Deployment,
  observed: Observed,
  now: Date,
): Plan<DeploymentStep, DeploymentStatus> {
  const { next, status } = decide(opened(deployment, observed), observed, now);
  const left = timeLeft(status.conditions ?? [], deployment, now);
  return {
    objects: [],
    steps: recorded(next).steps,
    held: [],
    status,
    // No event tells that time is up. It is up when it is past, so look a moment later.
    ...(left !== undefined && left >= 0 && { lookAgain: { afterMs: left + 1, because: 'its deadline will be over' } }),
  };
}

/** Everything a pass can be about, the most pressing first. */
function decide(draft: Draft, { namesake }: Observed, now: Date): Decision {
  const { deployment } = draft;
  const counted = (next: Draft) => ({ next, status: countsOf(next, now) });
  if (deployment.metadata.deletionTimestamp !== undefined) return counted(draft);

  const paused = { ...draft, conditions: withPause(draft.conditions, deployment, now) };
  const known = refreshed(paused, now);
  const rollback = rollbackRequest(deployment);
  if (deployment.spec?.paused) {
    const next = proportioned(known);
    return counted(rollback === undefined ? forgetful(next) : next);
  }
  if (rollback !== undefined) return counted(rolledBack(created(known, namesake, now), rollback));
  if (active(setsOf(known)).some((set) => knowsAnotherSize(deployment, set))) return counted(proportioned(known));

  const next = isRolling(deployment) ? rolled(created(known, namesake, now)) : recreated(known, namesake, now);
  return { next, status: rolloutStatusOf(next, now) };
}

interface Decision {
  readonly next: Draft;
  readonly status: DeploymentStatus;
}

/** The sets that are the deployment's from now on, and which of them is the current one. */
function opened(deployment: Deployment, observed: Observed): Draft {
  const { kept, adopted, released } = claimsOf(deployment, deployment.spec?.selector ?? {}, observed);
  const sets = [...kept, ...adopted].toSorted(byAge);
  // There may be two of the same template after an upgrade of the cluster: then the older one is meant.
  const current = sets.find((set) => sameTemplate(set.spec?.template, deployment.spec?.template));
  return {
    deployment,
    current,
    old: sets.filter((set) => set !== current),
    steps: [...adopted.map((set) => adoption(deployment, set)), ...released.map((set) => letGo(deployment, set))],
    conditions: deployment.status?.conditions ?? [],
    collisionCount: deployment.status?.collisionCount,
  };
}

function adoption(deployment: Deployment, set: ReplicaSet): DeploymentStep {
  const because = `the selector matches replica set ${set.metadata.name}, which nobody controls`;
  return { do: 'adopt-replica-set', because, set, by: claimant(Deployment, deployment) };
}

function letGo({ metadata }: Deployment, set: ReplicaSet): DeploymentStep {
  const because = `the selector no longer matches replica set ${set.metadata.name}`;
  return { do: 'release-replica-set', because, set, ownerUid: metadata.uid ?? '' };
}

/** A deployment shows the revision of its current set. One that goes back to another writes its annotations anyway. */
function recorded(draft: Draft): Draft {
  const { deployment, current, steps } = draft;
  const revision = current?.metadata.annotations?.[REVISION];
  const isSettled = revision === undefined || deployment.metadata.annotations?.[REVISION] === revision;
  const isGoing = deployment.metadata.deletionTimestamp !== undefined;
  if (isSettled || isGoing || steps.some((step) => step.do === 'end-rollback')) return draft;
  const because = `its current replica set is revision ${revision}`;
  return withStep(draft, { do: 'record-revision', because, deployment, revision });
}
