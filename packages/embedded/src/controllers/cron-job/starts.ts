/** Which start of a cron job is due now, and when to look for the next. */
import { nextTime, type Schedule } from '@polder/kube/cron';

export interface Starts {
  /** The latest start that is due and was not made; earlier ones are not made up for. In milliseconds since the epoch. */
  readonly due: number | undefined;
  /** So many were missed that something must be wrong: a clock, or a controller that did not run. */
  readonly isManyMissed: boolean;
  readonly next: number | undefined;
}

export interface Timing {
  readonly schedule: Schedule;
  readonly zone: string;
  /** The last start that was made, or when the cron job was created. */
  readonly since: number;
  /** A start that is later than this is not made. */
  readonly deadlineMs: number | undefined;
}

const MANY = 100;

/** Undefined if the schedule is never due. */
export function startsOf(timing: Timing, now: number): Starts | undefined {
  const { since, deadlineMs = Number.POSITIVE_INFINITY } = timing;
  const last = latestStart(timing, Math.max(since, now - deadlineMs), now);
  const any = latestStart(timing, since, now);
  if (!last || !any) return undefined;
  const from = any.time ?? (any.missed === 0 ? since : now);
  return { due: last.time, isManyMissed: last.missed > MANY, next: nextTime(timing.schedule, from, timing.zone) };
}

/** The latest start after `since` and not after `now`, and about how many there were. */
function latestStart({ schedule, zone }: Timing, since: number, now: number) {
  const first = nextTime(schedule, since, zone);
  const second = first === undefined ? undefined : nextTime(schedule, first, zone);
  if (first === undefined || second === undefined) return undefined;
  if (now < first) return { time: undefined, missed: 0 };
  if (now < second) return { time: first, missed: 0 };
  // By a stride of the first distance to shortly before now, instead of through every start of a year.
  const distance = Math.round((second - first) / 1000) * 1000;
  const missed = Math.floor((now - first) / distance) + 1;
  let latest: number | undefined;
  let time = nextTime(schedule, first + (missed - 2) * distance, zone);
  while (time !== undefined && time <= now) {
    latest = time;
    time = nextTime(schedule, time, zone);
  }
  return { time: latest, missed };
}
