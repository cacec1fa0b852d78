/** Texts as dates and times, in the integers that files hold. Exact: nothing goes through a JavaScript date but whole days. */

const DAY_MS = 86_400_000;
const DAY_MICROS = 86_400_000_000n;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** Days since 1970. Undefined: it is no date of the calendar. */
export function dayOf(text: string): number | undefined {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  if (year === '') return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
    ? date.getTime() / DAY_MS
    : undefined;
}

/** Microseconds since midnight. */
export const timeOfDayOf = (text: string): bigint | undefined => clockOf(text)?.micros;

export interface Instant {
  readonly micros: bigint;
  /** Up to 999, beside the microseconds. */
  readonly nanos: bigint;
}

/** Since 1970, in UTC; a text without an offset counts as UTC. */
export function microsOf(text: string): Instant | undefined {
  const [, date = '', time = '', offset = 'Z'] = MOMENT.exec(text) ?? [];
  const day = dayOf(date);
  const clock = clockOf(time);
  const shift = offsetOf(offset);
  if (day === undefined || clock === undefined || shift === undefined) return undefined;
  return { micros: BigInt(day) * DAY_MICROS + clock.micros - shift, nanos: clock.nanos };
}

function clockOf(text: string): Instant | undefined {
  const [, hours = '', minutes = '', seconds = '0', fraction = ''] = TIME.exec(text) ?? [];
  if (hours === '' || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  const nanos = BigInt(fraction.padEnd(9, '0'));
  return { micros: BigInt(whole) * 1_000_000n + nanos / 1_000n, nanos: nanos % 1_000n };
}

function offsetOf(text: string): bigint | undefined {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  if (sign === undefined) return 0n;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const shift = BigInt(Number(hours) * 60 + Number(minutes)) * 60_000_000n;
  return sign === '-' ? -shift : shift;
}
