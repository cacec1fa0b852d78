/** Moments by their digits: a `Date` knows milliseconds only. */
import { plainDecimal } from '../../json/index.ts';

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?[ ]?(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/i;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Above it a number counts milliseconds: as seconds it would be after the year 2286. */
const MOST_SECONDS = 10_000_000_000;

/** A moment in UTC. */
export interface Utc {
  /** `YYYY-MM-DD HH:MM:SS` */
  readonly seconds: string;
  /** Digits after the point. */
  readonly fraction: string;
}

/** RFC 3339, with or without an offset (then it is UTC already), or a date alone. Undefined: it is none, or never was. */
export function utcOfText(text: string): Utc | undefined {
  const [, date, minutes = '00:00', seconds = '00', fraction = '', offset = 'Z'] = MOMENT.exec(text) ?? [];
  if (date === undefined) return undefined;
  const local = `${date}T${minutes}:${seconds}`;
  const ms = Date.parse(`${local}Z`);
  // JavaScript takes the 30th of February for the 2nd of March.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(local)) return undefined;
  return utcOf(ms / 1000 - offsetSeconds(offset), fraction);
}

/** Seconds or milliseconds since the epoch, by the spelling of the number. */
export function utcOfEpoch(spelling: string): Utc | undefined {
  const [, sign = '', whole, fraction = ''] = DECIMAL.exec(plainDecimal(spelling)) ?? [];
  if (whole === undefined) return undefined;
  const isMilliseconds = Number(whole) > MOST_SECONDS;
  const places = fraction.length + (isMilliseconds ? 3 : 0);
  const unit = 10n ** BigInt(places);
  const count = BigInt(`${sign}${whole}${fraction}`);
  const rest = ((count % unit) + unit) % unit;
  return utcOf(Number((count - rest) / unit), places === 0 ? '' : String(rest).padStart(places, '0'));
}

/** `YYYY-MM-DD HH:MM:SS.fff`, with at most so many digits after the point; the others are cut off. */
export function printUtc({ seconds, fraction }: Utc, precision: number): string {
  const digits = fraction.slice(0, precision);
  return digits === '' ? seconds : `${seconds}.${digits}`;
}

export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && utcOfText(text) !== undefined;
}

function offsetSeconds(offset: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  const seconds = Number(hours) * 3600 + Number(minutes) * 60;
  return sign === '-' ? -seconds : seconds;
}

function utcOf(epochSeconds: number, fraction: string): Utc | undefined {
  const date = new Date(epochSeconds * 1000);
  if (Number.isNaN(date.getTime())) return undefined;
  const iso = date.toISOString();
  // Years with more than four digits begin with a sign.
  return /^\d/.test(iso) ? { seconds: iso.slice(0, 19).replace('T', ' '), fraction } : undefined;
}
