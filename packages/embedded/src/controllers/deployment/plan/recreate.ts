import type { ReplicaSet } from '@polder/kube';
import { sizeOf } from '../limits.ts';
import { created } from './current-set.ts';
import { active, type Draft, resized } from './draft.ts';
import { trimmed } from './history.ts';

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
 * No pod of it runs, not even one on its way out, and none will come: it has seen that it is to have none. (What it counted
 * before may be a set that was just about to create them.)
 */
function isEmpty({ metadata, status }: ReplicaSet): boolean {
  const hasSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return hasSeen && (status?.replicas ?? 0) === 0 && (status?.terminatingReplicas ?? 0) === 0;
}
