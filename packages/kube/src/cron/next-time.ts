import type { Schedule } from './schedule.ts';
import { instantOf, type WallTime, wallTimeAt } from './time-zone.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A schedule may name days that hardly ever come, or never (February 30). */
const YEARS_AHEAD = 5;

/**
 * The first time after `after` at which the schedule is due, in milliseconds since the epoch; undefined if it is never due.
 *
 * When clocks change, what falls into a skipped hour is left out that day, and what falls into a doubled one is due twice.
 */
export function nextTime(schedule: Schedule, after: number, zone: string): number | undefined {
  if (schedule.is === 'every') return Math.floor(after / SECOND_MS) * SECOND_MS + schedule.ms;
  let time = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  // Only the first move is to the beginning of a unit; from there on whole units are added.
  let isRounded = false;
  const lastYear = wallTimeAt(time, zone).year + YEARS_AHEAD;
  for (;;) {
    const at = wallTimeAt(time, zone);
    if (at.year > lastYear) return undefined;
    if (!schedule.months.has(at.month)) time = nextMonth(isRounded ? at : { ...at, ...FIRST, ...MIDNIGHT }, zone);
    else if (!isDayOf(schedule, at)) time = nextDay(isRounded ? at : { ...at, ...MIDNIGHT }, zone);
    else if (!schedule.hours.has(at.hour)) {
      time = (isRounded ? time : instantOf({ ...at, minute: 0 }, zone)) + HOUR_MS;
    } else if (!schedule.minutes.has(at.minute)) time += MINUTE_MS;
    else return time;
    isRounded = true;
  }
}

const FIRST = { day: 1 };
const MIDNIGHT = { hour: 0, minute: 0 };

function isDayOf({ days, weekdays, needsBothDays }: Extract<Schedule, { is: 'cron' }>, at: WallTime): boolean {
  const isDay = days.has(at.day);
  const isWeekday = weekdays.has(at.weekday);
  return needsBothDays ? isDay && isWeekday : isDay || isWeekday;
}

const nextMonth = (at: WallTime, zone: string) => instantOf({ ...at, month: at.month + 1 }, zone);

/**
 * Where clocks skip the hour after midnight, the day begins at one. The correction is that of the library that the real
 * controller uses, for better or worse: east of Greenwich it passes over that day.
 */
function nextDay(at: WallTime, zone: string): number {
  const time = instantOf({ ...at, day: at.day + 1 }, zone);
  const { hour } = wallTimeAt(time, zone);
  if (hour === 0) return time;
  return time + (hour > 12 ? 24 - hour : -hour) * HOUR_MS;
}
