import type { ReplicaSet } from '@polder/kube';
import { minAvailable, sizeOf } from '../limits.ts';
import { roomForNew } from './current-set.ts';
import { type Draft, resized, setsOf } from './draft.ts';
import { trimmed } from './history.ts';
import { active, availableIn, knowsItsSize, total } from './sets.ts';

/** One step up with the current set, or else one down with the others: whatever the limits allow right now. */
export function rolled(draft: Draft): Draft {
  const { current } = draft;
  if (!current) return draft;
  const up = grown(draft, current);
  if (up !== draft) return up;
  const down = shrunk(draft, current);
  return down === draft ? trimmed(draft) : down;
}

function grown(draft: Draft, current: ReplicaSet): Draft {
  const wanted = sizeOf(draft.deployment);
  const size = sizeOf(current);
  if (size === wanted) return draft;
  const to = size > wanted ? wanted : roomForNew(draft, size);
  return resized(draft, current, to, `deployment ${draft.deployment.metadata.name} wants ${wanted} pods`);
}

/**
 * Takes pods from the old sets, but never so many that fewer than the minimum would be available. Pods of the current set
 * that are not available yet are taken for lost: they may never come.
 */
function shrunk(draft: Draft, current: ReplicaSet): Draft {
  const unavailable = sizeOf(current) - availableIn(current);
  const most = total(setsOf(draft)) - minAvailable(draft.deployment) - unavailable;
  const old = active(draft.old);
  if (old.length === 0 || most <= 0) return draft;
  // One that does not know its size will soon say how many it really has.
  if (!old.every(knowsItsSize)) return draft;
  const spare = setsOf(draft).reduce((sum, set) => sum + availableIn(set), 0) - minAvailable(draft.deployment);
  return withoutSpare(withoutUnhealthy(draft, most), spare);
}

/** Unhealthy pods go first: they serve nobody, and waiting for them would hold up the rollout. */
function withoutUnhealthy(draft: Draft, most: number): Draft {
  let [next, left] = [draft, most];
  for (const set of active(draft.old)) {
    const unhealthy = Math.min(left, sizeOf(set) - availableIn(set));
    next = resized(next, set, sizeOf(set) - unhealthy, 'unhealthy pods of old revisions go first');
    left -= unhealthy;
  }
  return next;
}

/** Then the oldest healthy ones, as many as are available beyond what has to be. */
function withoutSpare(draft: Draft, spare: number): Draft {
  let [next, left] = [draft, Math.max(0, spare)];
  for (const set of active(draft.old)) {
    const down = Math.min(left, sizeOf(set));
    next = resized(next, set, sizeOf(set) - down, 'enough pods are available without them');
    left -= down;
  }
  return next;
}
