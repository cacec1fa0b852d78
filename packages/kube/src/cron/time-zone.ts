/** Wall clocks of time zones: what they show at an instant, and when they show something. */
export interface WallTime {
  readonly year: number;
  /** From 1 to 12. More is the next year's. */
  readonly month: number;
  /** More than the month has is the next month's. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** From Sunday, which is 0. */
  readonly weekday: number;
}

export function wallTimeAt(time: number, zone: string): WallTime {
  const shown = new Date(time + offsetAt(time, zone));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    weekday: shown.getUTCDay(),
  };
}

/**
 * The instant at which the clock shows this time. What it shows twice, or never, has two answers or none; which instant it is
 * then depends on which side of the change the zone's offset puts it first, as in Go, whose answers cron jobs are used to.
 */
export function instantOf({ year, month, day, hour, minute }: Omit<WallTime, 'weekday'>, zone: string): number {
  const shown = Date.UTC(year, month - 1, day, hour, minute);
  const guess = shown - offsetAt(shown, zone);
  return shown - offsetAt(guess, zone);
}

/** `2026-03-29T03:30:00+02:00`. */
export function formatInZone(time: number, zone: string): string {
  const offset = offsetAt(time, zone) / 60_000;
  const shown = new Date(time + offset * 60_000).toISOString().slice(0, 19);
  if (offset === 0) return `${shown}Z`;
  const two = (number: number) => String(Math.trunc(number)).padStart(2, '0');
  return `${shown}${offset < 0 ? '-' : '+'}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
}

/** Formatters are dear to make and cheap to use. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** How far the clock is ahead of UTC, in milliseconds. */
function offsetAt(time: number, zone: string): number {
  if (zone === 'UTC') return 0;
  let formatter = formatters.get(zone);
  if (!formatter) {
    const unit = 'numeric' as const;
    const units = { year: unit, month: unit, day: unit, hour: unit, minute: unit, second: unit };
    formatter = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...units });
    formatters.set(zone, formatter);
  }
  const parts = new Map(formatter.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const shown = Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second'));
  return shown - Math.floor(time / 1000) * 1000;
}
