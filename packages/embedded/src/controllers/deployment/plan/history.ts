import type { ReplicaSet } from '@polder/kube';
import { sizeOf } from '../limits.ts';
import { isComplete } from '../progress.ts';
import { revisionOf } from '../revisions.ts';
import { type Draft, withStep } from './draft.ts';
import { byAge, knowsItsSize } from './sets.ts';

/** What the API stands in for "all of them". */
const ALL = 2 ** 31 - 1;

/** Forgets the oldest revisions over the limit once a rollout is over; till then they may be needed to go back. */
export function trimmed(draft: Draft): Draft {
  const { deployment } = draft;
  return isComplete(deployment, deployment.status ?? {}) ? forgetful(draft) : draft;
}

export function forgetful(draft: Draft): Draft {
  const limit = draft.deployment.spec?.revisionHistoryLimit ?? ALL;
  const living = draft.old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = living
    .toSorted((a, b) => revisionOf(a) - revisionOf(b) || byAge(a, b))
    .slice(0, Math.max(0, living.length - limit));
  const because = `the history of deployment ${draft.deployment.metadata.name} has a limit of ${limit}`;
  return surplus
    .filter(isIdle)
    .reduce((next, set) => withStep(next, { do: 'delete-replica-set', because, set }), draft);
}

/** It has no pods and will get none. */
function isIdle(set: ReplicaSet): boolean {
  return sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0 && knowsItsSize(set);
}
