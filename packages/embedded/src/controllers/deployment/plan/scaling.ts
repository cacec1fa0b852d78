import type { ReplicaSet } from '@polder/kube';
import { isRolling, maxSurge, sizeOf } from '../limits.ts';
import { desiredReplicas, mostReplicas } from '../revisions.ts';
import { active, availableIn, byAge, type Draft, knowsAnotherSize, resized, scaled, setsOf, total } from './draft.ts';

/**
 * Brings the sets of a deployment to its new size without rolling on: in the midst of a rollout each set gets its share, so
 * that a bad revision does not spread just because somebody asked for more pods.
 */
export function proportioned(draft: Draft): Draft {
  const { deployment, current } = draft;
  const because = `deployment ${deployment.metadata.name} wants ${sizeOf(deployment)} pods`;
  const only = onlyOrNewest(draft);
  if (only) {
    // Somebody may have given the set that size already. It has to learn the deployment's all the same, or every pass would
    // take that for a change of size, and a rollout would never begin.
    const scale = knowsAnotherSize(deployment, only) ? scaled : resized;
    return scale(draft, only, sizeOf(deployment), because);
  }
  if (current && isSaturated(draft, current)) {
    const full = 'the current revision has all the pods it needs';
    return active(draft.old).reduce((next, set) => resized(next, set, 0, full), draft);
  }
  if (!isRolling(deployment)) return draft;
  return [...shares(draft)].reduce((next, [set, size]) => scaled(next, set, size, because), draft);
}

/** The one set with pods, or if none has any the newest; undefined if there are several (or no set at all). */
function onlyOrNewest({ current, old }: Draft): ReplicaSet | undefined {
  const busy = active(current ? [...old, current] : old);
  if (busy.length > 0) return busy.length === 1 ? busy[0] : undefined;
  return current ?? old.at(-1);
}

/** It has all the pods that are wanted, they are available, and it was scaled for this size. */
function isSaturated({ deployment }: Draft, set: ReplicaSet): boolean {
  const wanted = sizeOf(deployment);
  return sizeOf(set) === wanted && availableIn(set) === wanted && desiredReplicas(set) === wanted;
}

/**
 * How large each set with pods becomes. The largest come first; among equals the newest if pods are added, the oldest if
 * they are taken away. What rounding leaves over goes to the first.
 */
function shares(draft: Draft): ReadonlyMap<ReplicaSet, number> {
  const { deployment } = draft;
  const sets = active(setsOf(draft));
  const wanted = sizeOf(deployment);
  const toAdd = (wanted > 0 ? wanted + maxSurge(deployment) : 0) - total(sets);
  const ordered = sets.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)));
  const sizes = new Map(ordered.map((set) => [set, sizeOf(set)]));
  let left = toAdd;
  for (const set of ordered) {
    const more = within(left, fairShare(draft, set));
    sizes.set(set, sizeOf(set) + more);
    left -= more;
  }
  const [first] = ordered;
  if (first) sizes.set(first, Math.max(0, (sizes.get(first) ?? 0) + left));
  return sizes;
}

/** As much of `change` as there is `left`. Where pods are taken away no set grows, whatever its annotations make of its share. */
function within(left: number, change: number): number {
  if (left === 0) return 0;
  return left > 0 ? Math.min(change, left) : Math.min(0, Math.max(change, left));
}

/** By how much a set would grow (or shrink) if it kept its part of the whole. */
function fairShare({ deployment }: Draft, set: ReplicaSet): number {
  const wanted = sizeOf(deployment);
  const size = sizeOf(set);
  if (wanted === 0) return -size;
  // Without a usable annotation, what is there now stands in for what was allowed then.
  const before = mostReplicas(set) || (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((size * (wanted + maxSurge(deployment))) / before) - size;
}
