/** A point in time to the nanosecond, which databases have and JavaScript's dates have not. */
export interface Instant {
  /** Since 1970. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanoseconds: number;
}

export const instantOfMilliseconds = (milliseconds: number): Instant => {
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1e6) };
};

/** The years 0 to 9999: what a date with four digits can say. */
const FIRST = Date.parse('0000-01-01T00:00:00Z') / 1000;
const LAST = Date.parse('9999-12-31T23:59:59Z') / 1000;

export const isInRange = ({ seconds }: Instant): boolean => seconds >= FIRST && seconds <= LAST;

const CIVIL = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(?:(Z)|([+-])(\d\d):(\d\d))?$/;

/** A date and time as RFC 3339 writes it, its offset optional. */
export interface CivilTime {
  /** As if it were in UTC. */
  readonly local: Instant;
  /** Undefined: it does not say. */
  readonly offsetSeconds: number | undefined;
}

export function parseCivilTime(text: string): CivilTime | undefined {
  const match = CIVIL.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', utc, sign, offsetHours, offsetMinutes] = match;
  const date = new Date(0);
  // Not Date.UTC, which reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isOnCalendar = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  const isOnClock = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  if (!isOnCalendar || !isOnClock) return undefined;
  const seconds = date.getTime() / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const local = { seconds, nanoseconds: Number(fraction.padEnd(9, '0')) };
  if (utc !== undefined) return { local, offsetSeconds: 0 };
  if (sign === undefined) return { local, offsetSeconds: undefined };
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = Number(offsetHours) * 3600 + Number(offsetMinutes) * 60;
  return { local, offsetSeconds: sign === '-' ? -offset : offset };
}
