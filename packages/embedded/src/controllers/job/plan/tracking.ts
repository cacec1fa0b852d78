import type { Pod } from '@polder/kube';
import { type Facts, indexOf, isFailed, isSucceeded, isTracked, isValid, uidOf } from './facts.ts';
import { verdictOnPod } from './failure-policy.ts';
import { hasIndex } from './indexes.ts';
import type { Verdict } from './verdict.ts';

/**
 * How a pod's end is counted exactly once, whatever crashes between two writes:
 *
 * 1. A pod that ended is named in the status (`uncountedTerminatedPods`). Our finalizer keeps it until then.
 * 2. Once the *stored* status names it, it loses the finalizer, and may disappear.
 * 3. Whoever is named and has no finalizer any more is counted: the status trades its name for one more in the number.
 *
 * A pass does 2 and 3 for those named before and 1 for the new ones; its status is written last. A pod without the finalizer
 * that is not named has been counted, or never counts. An index is its own name: `completedIndexes` is 1 and 3 at once.
 */
export interface Tracking {
  /** These lose the finalizer before the status is written. */
  readonly untrack: readonly Pod[];
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  /** Whether no pod is left to count when all this is done. */
  readonly isSettled: boolean;
}

/** The most names that a status holds: it has to stay small, and others have to get their turn. */
const MOST_NAMES = 500;

export function track(facts: Facts, verdict: Verdict | undefined): Tracking {
  const untrack: Pod[] = [];
  const uncounted = { succeeded: new Array<string>(), failed: new Array<string>() };
  let left = 0;
  for (const pod of facts.pods.filter(isTracked)) {
    const fate = fateOf(pod, facts, verdict);
    const isFull = uncounted.succeeded.length + uncounted.failed.length >= MOST_NAMES;
    if (fate === 'untrack') untrack.push(pod);
    else left++;
    if ((fate === 'succeeded' || fate === 'failed') && !isFull) uncounted[fate].push(uidOf(pod));
  }
  return { untrack, uncounted, isSettled: left === 0 };
}

/** What becomes of a tracked pod in this pass: it is named as one that ended so, loses the finalizer, or stays as it is. */
function fateOf(pod: Pod, facts: Facts, verdict: Verdict | undefined): 'succeeded' | 'failed' | 'untrack' | 'stay' {
  const { job, spec, named, isIndexed, stored, lastFailed } = facts;
  if (named.succeeded.has(uidOf(pod)) || named.failed.has(uidOf(pod))) return 'untrack';
  if (isSucceeded(pod)) {
    if (!isValid(spec, pod)) return 'untrack';
    if (!isIndexed) return 'succeeded';
    return hasIndex(stored, indexOf(pod)) ? 'untrack' : 'stay';
  }
  const isOver = verdict !== undefined || job.metadata.deletionTimestamp !== undefined;
  if (!isOver && (!isFailed(spec, pod) || lastFailed.get(indexOf(pod)) === pod)) return 'stay';
  // A job that fails takes its unfinished pods with it: they failed, too.
  const counts = isValid(spec, pod) && (isFailed(spec, pod) || verdict?.is === 'failed');
  return counts && verdictOnPod(spec, pod).is !== 'ignored' ? 'failed' : 'untrack';
}
