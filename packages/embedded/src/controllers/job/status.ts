import { type Happening, type Job, type JobCondition, type JobStatus, timestamp } from '@polder/kube';
import { type Facts } from './plan/facts.ts';
import { formatIndexes, sizeOf } from './plan/indexes.ts';
import type { Tracking } from './plan/tracking.ts';
import { FINAL, INTERIM, type Verdict } from './plan/verdict.ts';
import { CreateFailed } from './steps.ts';

/** What a pass has decided, as far as the status tells of it. */
export interface Decided {
  readonly facts: Facts;
  readonly verdict: Verdict | undefined;
  readonly tracking: Tracking;
  /** Numbers of pods once the steps are done. */
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  readonly now: Date;
}

export function statusOf(decided: Decided): JobStatus {
  const { facts, tracking, active, ready, terminating } = decided;
  const { job, named, isIndexed, completed, failedIndexes } = facts;
  const { status = {} } = job;
  const succeeded = isIndexed ? sizeOf(completed) : (status.succeeded ?? 0) + named.succeeded.size;
  const failed = (status.failed ?? 0) + named.failed.size;
  const conditions = conditionsOf(decided);
  const complete = conditions.find(({ type }) => type === FINAL.succeeded);
  const startTime = startTimeOf(decided, conditions);
  const { uncounted } = tracking;
  return {
    ...(conditions.length > 0 && { conditions }),
    ...(startTime !== undefined && { startTime }),
    ...(complete?.lastTransitionTime !== undefined && { completionTime: complete.lastTransitionTime }),
    ...(active > 0 && { active }),
    ready,
    terminating,
    ...(succeeded > 0 && { succeeded }),
    ...(failed > 0 && { failed }),
    ...(isIndexed && completed.length > 0 && { completedIndexes: formatIndexes(completed) }),
    ...(failedIndexes && { failedIndexes: formatIndexes(failedIndexes) }),
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
      ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
    },
  };
}

function conditionsOf({ facts, verdict, tracking, terminating, now }: Decided): readonly JobCondition[] {
  const { job, spec } = facts;
  const before = job.status?.conditions ?? [];
  if (!verdict)
    return job.metadata.deletionTimestamp === undefined ? suspension(before, spec.suspend ?? false, now) : before;
  const { is, reason, message } = verdict;
  if (!verdict.isStored) return [...before, condition(INTERIM[is], reason, message, now)];
  // Whoever reads that a job is over relies on it: no pod of it runs any more, and the numbers are final.
  const isOver = tracking.isSettled && terminating === 0;
  return isOver ? [...before, condition(FINAL[is], reason, message, now)] : before;
}

function suspension(before: readonly JobCondition[], isSuspended: boolean, now: Date): readonly JobCondition[] {
  const old = before.find(({ type }) => type === 'Suspended');
  // A job that never was suspended does not say so.
  if ((old?.status === 'True') === isSuspended) return before;
  const wanted = isSuspended
    ? condition('Suspended', 'JobSuspended', 'Job suspended', now)
    : { ...condition('Suspended', 'JobResumed', 'Job resumed', now), status: 'False' };
  return old ? before.map((one) => (one === old ? wanted : one)) : [...before, wanted];
}

function condition(type: string, reason: string, message: string, now: Date): JobCondition {
  const time = timestamp(now);
  return { type, status: 'True', reason, message, lastProbeTime: time, lastTransitionTime: time };
}

/** A deadline counts from here, so that time spent suspended does not. */
function startTimeOf({ facts, now }: Decided, conditions: readonly JobCondition[]): string | undefined {
  const { job, spec } = facts;
  const { startTime, conditions: before } = job.status ?? {};
  if (conditions.some((one) => one.type === 'Suspended' && !before?.includes(one))) {
    return spec.suspend ? undefined : timestamp(now);
  }
  return startTime ?? (spec.suspend ? undefined : timestamp(now));
}

/** What is new in the conditions, told to people. */
export function newsIn(job: Job, status: JobStatus): readonly Happening[] {
  const before = job.status?.conditions ?? [];
  const tell = (type: Happening['type'], reason: string, note: string) => ({ type, reason, action: 'Sync', note });
  return (status.conditions ?? [])
    .filter((one) => !before.includes(one))
    .flatMap(({ type, status: value, reason = '', message = '' }): readonly Happening[] => {
      if (type === 'Suspended') return [tell('Normal', value === 'True' ? 'Suspended' : 'Resumed', message)];
      if (type === FINAL.failed) return [tell('Warning', reason, message)];
      if (type !== FINAL.succeeded) return [];
      const { completions } = job.spec ?? {};
      const isTooMany = completions !== undefined && (status.succeeded ?? 0) > completions;
      const note = 'Too many succeeded pods running after completion count reached';
      return [
        ...(isTooMany ? [tell('Warning', 'TooManySucceededPods', note)] : []),
        tell('Normal', 'Completed', 'Job completed'),
      ];
    });
}

/** A pod that can't be created must not keep others from being counted. */
export function statusOfFailure(job: Job, error: unknown): JobStatus {
  return error instanceof CreateFailed ? error.status : (job.status ?? {});
}
