import type { ReplicaSet } from '@polder/kube';
import { minAvailable, sizeOf } from '../limits.ts';
import { roomForNew } from './current-set.ts';
import { active, availableIn, type Draft, resized, setsOf, total } from './draft.ts';
import { trimmed } from './history.ts';

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
  // It was scaled down and has not got round to it: what it says of its pods is out of date, and it will say so again.
  if (old.some((set) => availableIn(set) > sizeOf(set))) return draft;
  const cleaned = withoutUnhealthy(draft, most);
  return withoutSpare(cleaned);
}

/** Unhealthy pods go first: they serve nobody, and waiting for them would hold up the rollout. */
function withoutUnhealthy(draft: Draft, most: number): Draft {
  let [next, left] = [draft, most];
  for (const set of active(draft.old)) {
    const unhealthy = Math.min(left, sizeOf(set) - availableIn(set));
    if (unhealthy > 0) next = resized(next, set, sizeOf(set) - unhealthy, 'unhealthy pods of old revisions go first');
    left -= unhealthy;
  }
  return next;
}

/** Then the oldest healthy ones, as long as there are more available than there have to be. */
function withoutSpare(draft: Draft): Draft {
  let next = draft;
  let spare = setsOf(draft).reduce((sum, set) => sum + availableIn(set), 0) - minAvailable(draft.deployment);
  for (const set of active(draft.old)) {
    const down = Math.min(spare, sizeOf(set));
    if (down > 0) next = resized(next, set, sizeOf(set) - down, 'enough pods are available without them');
    spare -= Math.max(0, down);
  }
  return next;
}
