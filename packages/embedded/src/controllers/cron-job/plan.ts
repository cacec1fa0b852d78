import {
  type CronJob,
  type CronJobStatus,
  type Happening,
  type Job,
  type NewObject,
  type Plan,
  timestamp,
} from '@polder/kube';
import { BadSchedule, parseSchedule, type Schedule } from '@polder/kube/cron';
import { beyondHistory } from './history.ts';
import type { Observed } from './observe.ts';
import { jobNameAt, scheduledJob, startOf } from './scheduled-job.ts';
import { type Starts, startsOf } from './starts.ts';
import { type Account, accountOf, endOf } from './status.ts';

export type CronJobStep =
  | { readonly do: 'create-job'; readonly because: string; readonly job: NewObject<Job>; readonly owner: CronJob }
  | { readonly do: 'delete-job'; readonly because: string; readonly job: Job }
  /** What people should know and no status shows. */
  | { readonly do: 'tell'; readonly because: string; readonly happening: Happening };

/** What follows from the schedule. */
interface Decision {
  readonly steps: readonly CronJobStep[];
  /** The start that is made now. */
  readonly started?: number;
  readonly replaced?: readonly Job[];
  readonly next?: number | undefined;
}

/** Clocks differ a little; to look a little late is to look once. */
const LATE_MS = 100;

export function planCronJob(cronJob: CronJob, { jobs }: Observed, now: Date): Plan<CronJobStep, CronJobStatus> {
  const account = accountOf(cronJob, jobs);
  const cleanup = beyondHistory(cronJob, jobs).map((job): CronJobStep => {
    return { do: 'delete-job', because: 'the history is full', job };
  });
  const { steps, started, replaced, next } = decide(cronJob, account, now.getTime());
  const unexpected = jobs.filter((job) => isUnexpected(cronJob, account, job)).map(warnOf);
  const { active: refs, ...status } = account.status;
  const active = refs?.filter(({ uid }) => !replaced?.some(({ metadata }) => metadata.uid === uid)) ?? [];
  return {
    objects: [],
    steps: [...cleanup, ...unexpected, ...steps],
    held: [],
    status: {
      ...status,
      ...(active.length > 0 && { active }),
      ...(started !== undefined && { lastScheduleTime: timestamp(started) }),
    },
    events: account.news,
    lookAgain:
      next === undefined
        ? { afterMs: 3600_000, because: 'it starts nothing by itself' }
        : { afterMs: Math.max(0, next + LATE_MS - now.getTime()), because: 'its next start is due' },
  };
}

function decide(cronJob: CronJob, account: Account, now: number): Decision {
  const { spec, metadata } = cronJob;
  if (spec.suspend) return { steps: [] };
  const schedule = scheduleOf(spec.schedule);
  if (schedule instanceof BadSchedule) {
    const note = `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${schedule.message}`;
    return { steps: [tell('Warning', 'UnparseableSchedule', note)] };
  }
  const zone = spec.timeZone ?? 'UTC';
  const since = account.lastScheduleTime ?? Date.parse(metadata.creationTimestamp ?? '');
  const deadlineMs = spec.startingDeadlineSeconds === undefined ? undefined : spec.startingDeadlineSeconds * 1000;
  const starts = startsOf({ schedule, zone, since, deadlineMs }, now);
  if (!starts) {
    const note = `invalid schedule: ${spec.schedule} : time difference between two schedules is less than 1 second`;
    return { steps: [tell('Warning', 'InvalidSchedule', note)] };
  }
  const { due, next } = starts;
  if (due === undefined) return { steps: [], next };
  return start(cronJob, account, { ...starts, due }, zone);
}

function start(
  cronJob: CronJob,
  { active }: Account,
  starts: Starts & { readonly due: number },
  zone: string,
): Decision {
  const { due, next, isManyMissed } = starts;
  const tooMany = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
  const warnings = isManyMissed ? [tell('Warning', 'TooManyMissedTimes', tooMany)] : [];
  // Starts less than a minute apart share a name.
  if (active.some(({ metadata }) => metadata.name === jobNameAt(cronJob, due))) return { steps: warnings, next };
  const { concurrencyPolicy = 'Allow' } = cronJob.spec;
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const note = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    return { steps: [...warnings, tell('Normal', 'JobAlreadyActive', note)], next };
  }
  const replaced = concurrencyPolicy === 'Replace' ? active : [];
  const because = `it is due at ${timestamp(due)}`;
  return {
    steps: [
      ...warnings,
      ...replaced.map((job): CronJobStep => ({ do: 'delete-job', because: 'the next one replaces it', job })),
      { do: 'create-job', because, job: scheduledJob(cronJob, due, zone), owner: cronJob },
    ],
    started: due,
    replaced,
    next,
  };
}

function scheduleOf(text: string): Schedule | BadSchedule {
  try {
    return parseSchedule(text);
  } catch (error) {
    if (error instanceof BadSchedule) return error;
    throw error;
  }
}

/** It carries the cron job's name, and the schedule did not make it. Somebody else did, by hand for instance. */
function isUnexpected(cronJob: CronJob, { active }: Account, job: Job): boolean {
  return endOf(job) === undefined && startOf(cronJob, job) === undefined && !active.includes(job);
}

function warnOf({ metadata }: Job): CronJobStep {
  return tell('Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${metadata.name}`);
}

function tell(type: Happening['type'], reason: string, note: string): CronJobStep {
  return { do: 'tell', because: note, happening: { type, reason, action: 'Sync', note } };
}
