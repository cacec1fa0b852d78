import type { ReplicaSet } from '@polder/kube';
import { sizeOf } from '../limits.ts';
import { created } from './current-set.ts';
import { type Draft, resized } from './draft.ts';
import { trimmed } from './history.ts';
import { active, knowsItsSize } from './sets.ts';

/** First all old pods go; only when the last one is gone may a new one come. */
export function recreated(draft: Draft, namesake: ReplicaSet | undefined, now: Date): Draft {
  const because = 'all pods of old revisions go before a new one comes';
  const down = active(draft.old).reduce((next, set) => resized(next, set, 0, because), draft);
  if (down !== draft || !draft.old.every(isEmpty)) return down;
  const next = created(draft, namesake, now);
  if (!next.current) return next;
  const wanted = sizeOf(next.deployment);
  const up = resized(next, next.current, wanted, `deployment ${next.deployment.metadata.name} wants ${wanted} pods`);
  return trimmed(up);
}

/**
 * No pod of it runs, not even one on its way out, and none will come: it knows that it is to have none. (A set that does not
 * know yet may be about to create them.)
 */
function isEmpty(set: ReplicaSet): boolean {
  const { replicas = 0, terminatingReplicas = 0 } = set.status ?? {};
  return knowsItsSize(set) && replicas === 0 && terminatingReplicas === 0;
}
