import { findCondition, type Happening, type Held, type Summary } from '@polder/kube';
import type { QdrantCollection } from '../../kinds/index.ts';
import type { CollectionStep } from './step.ts';

/** What every new collection waits for, in turns: that it waits is no news. */
const TURNS = ['what-is-made-is-written-down-first', 'a-new-collection-waits-for-the-peers-to-come'];

/** What may wait for the user; all else that a new collection waits for comes by itself. */
const TOLD_AT_FIRST = ['Held', 'ClusterMissing'];

/**
 * What is told of a collection that is doing otherwise than before. On its way to be ready for the first time, or back to it, it
 * is not told of every turn of the way: the status has them.
 */
export function eventsOf(
  { status }: QdrantCollection,
  summary: Summary,
  held: readonly Held<CollectionStep>[],
): readonly Happening[] {
  const before = findCondition(status?.conditions, 'Ready');
  if (summary.is === 'ready') {
    const note = 'the collection is as it should be';
    return before?.status === 'True' ? [] : [{ type: 'Normal', reason: 'Ready', action: 'Reconcile', note }];
  }
  if (summary.is === 'unknown') return [];
  const { reason = '', because: note } = summary;
  if (before?.reason === reason) return [];
  if (summary.is === 'stalled') return [{ type: 'Warning', reason, action: 'Reconcile', note }];
  const isTurn = reason === 'Held' && held.every(({ rule }) => TURNS.includes(rule));
  const isNews = before?.status === 'True' || (TOLD_AT_FIRST.includes(reason) && !isTurn);
  return isNews ? [{ type: 'Normal', reason, action: 'Reconcile', note }] : [];
}
