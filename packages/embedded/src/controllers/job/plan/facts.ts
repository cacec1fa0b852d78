import { hasFinalizer, type Job, type JobSpec, type Pod } from '@polder/kube';
import { isActive, isTerminating } from '../../pods/index.ts';
import { COMPLETION_INDEX, FAILURE_COUNT, IGNORED_FAILURE_COUNT, TRACKING } from '../names.ts';
import { verdictOnPod } from './failure-policy.ts';
import { hasIndex, type Indexes, indexesOf, NO_INDEXES, parseIndexes, sizeOf, union } from './indexes.ts';

/** What a job and its pods say, read once, for every part of the plan. */
export interface Facts {
  readonly job: Job;
  readonly spec: JobSpec;
  readonly isIndexed: boolean;
  /** Of an indexed job all, in the order of their indexes. */
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  /** Deleted, and not at their end yet. */
  readonly terminating: readonly Pod[];
  /** The pods that the stored status names as ended and not counted: nothing but their counting is left to do. */
  readonly named: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /** Ended and in the status neither by name nor by number. */
  readonly ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] };
  /** Everything that ended, counted or not. Of an indexed job, the succeeded are indexes. */
  readonly counts: { readonly succeeded: number; readonly failed: number };
  /** The completed indexes: those in the stored status, and all. */
  readonly stored: Indexes;
  readonly completed: Indexes;
  /** Undefined unless each index has its own limit of failures. */
  readonly failedIndexes: Indexes | undefined;
  /** The pod that failed last at an index that waits for its next: it goes on only once that has taken over its count. */
  readonly lastFailed: ReadonlyMap<number, Pod>;
}

export function factsOf(job: Job, spec: JobSpec, allPods: readonly Pod[]): Facts {
  const { status = {} } = job;
  const isIndexed = spec.completionMode === 'Indexed';
  const pods = isIndexed ? allPods.toSorted((a, b) => indexOf(a) - indexOf(b)) : allPods;
  const named = {
    succeeded: new Set(status.uncountedTerminatedPods?.succeeded),
    failed: new Set(status.uncountedTerminatedPods?.failed),
  };
  const isNew = (pod: Pod) =>
    isTracked(pod) && isValid(spec, pod) && !named.succeeded.has(uidOf(pod)) && !named.failed.has(uidOf(pod));
  const ended = {
    succeeded: pods.filter((pod) => isNew(pod) && isSucceeded(pod)),
    failed: pods.filter((pod) => isNew(pod) && isFailed(spec, pod)),
  };
  const active = pods.filter(isActive);
  const stored = isIndexed ? parseIndexes(status.completedIndexes ?? '', spec.completions ?? 0) : NO_INDEXES;
  const completed = union(stored, indexesOf(isIndexed ? ended.succeeded.map(indexOf) : []));
  const failedIndexes = failedIndexesOf(job, spec, ended.failed);
  const counted = ended.failed.filter((pod) => verdictOnPod(spec, pod).is !== 'ignored');
  return {
    job,
    spec,
    isIndexed,
    pods,
    active,
    terminating: pods.filter((pod) => isTerminating(pod) && !isSucceeded(pod) && pod.status?.phase !== 'Failed'),
    named,
    ended,
    counts: {
      succeeded: isIndexed
        ? sizeOf(completed)
        : (status.succeeded ?? 0) + named.succeeded.size + ended.succeeded.length,
      failed: (status.failed ?? 0) + named.failed.size + counted.length,
    },
    stored,
    completed,
    failedIndexes,
    lastFailed: failedIndexes
      ? lastFailedOf(spec, pods, union(completed, failedIndexes, indexesOf(active.map(indexOf))))
      : new Map(),
  };
}

function failedIndexesOf({ status }: Job, spec: JobSpec, failed: readonly Pod[]): Indexes | undefined {
  const { backoffLimitPerIndex, completions = 0 } = spec;
  if (backoffLimitPerIndex === undefined) return undefined;
  const isLast = (pod: Pod) => {
    const { is } = verdictOnPod(spec, pod);
    return is === 'index-failed' || (is !== 'ignored' && pastFailuresOf(pod) >= backoffLimitPerIndex);
  };
  return union(parseIndexes(status?.failedIndexes ?? '', completions), indexesOf(failed.filter(isLast).map(indexOf)));
}

function lastFailedOf(spec: JobSpec, pods: readonly Pod[], settled: Indexes): ReadonlyMap<number, Pod> {
  const last = new Map<number, Pod>();
  for (const pod of pods) {
    if (!isTracked(pod) || !isValid(spec, pod) || !isFailed(spec, pod) || hasIndex(settled, indexOf(pod))) continue;
    const other = last.get(indexOf(pod));
    if (!other || allFailuresOf(other) <= allFailuresOf(pod)) last.set(indexOf(pod), pod);
  }
  return last;
}

export const uidOf = ({ metadata }: Pod) => metadata.uid ?? '';

/** Whether its end is still to be counted: as long as it has our finalizer, it can't disappear. */
export const isTracked = (pod: Pod) => hasFinalizer(pod, TRACKING);

export const isSucceeded = ({ status }: Pod) => status?.phase === 'Succeeded';

/**
 * A deleted pod may never come to say that it failed (its node may be gone), so it counts as failed at once, unless the job
 * asks to wait for the end.
 */
export function isFailed(spec: JobSpec, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return !waitsForTheEnd(spec) && isTerminating(pod) && !isSucceeded(pod);
}

/** Whether a pod is replaced only once it is at its end, not already when it is deleted. */
export const waitsForTheEnd = ({ podReplacementPolicy, podFailurePolicy }: JobSpec) =>
  podReplacementPolicy === 'Failed' || podFailurePolicy !== undefined;

/** -1 if it has none. */
export function indexOf({ metadata }: Pod): number {
  const text = metadata.annotations?.[COMPLETION_INDEX] ?? '';
  return /^\d+$/.test(text) ? Number(text) : -1;
}

/** Pods of an indexed job whose index is missing, or beyond its end, count for nothing. */
export function isValid({ completionMode, completions = 0 }: JobSpec, pod: Pod): boolean {
  return completionMode !== 'Indexed' || (indexOf(pod) >= 0 && indexOf(pod) < completions);
}

/** How often the index had failed before this pod; each pod hands it on to its successor. */
export const pastFailuresOf = (pod: Pod) => numberIn(pod, FAILURE_COUNT);
export const ignoredFailuresOf = (pod: Pod) => numberIn(pod, IGNORED_FAILURE_COUNT);
const allFailuresOf = (pod: Pod) => pastFailuresOf(pod) + ignoredFailuresOf(pod);

function numberIn({ metadata }: Pod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
