import type { CivilTime, Instant } from './instant.ts';

/** A time zone: how far from UTC it is at a point in time, and what it is called then. */
export interface Zone {
  offsetAt(seconds: number): number;
  abbreviationAt(seconds: number): string;
}

export const UTC: Zone = { offsetAt: () => 0, abbreviationAt: () => 'UTC' };

const FIXED = /^([+-])(\d\d):?(\d\d)$/;

/** An IANA name or an offset like +03:00. Undefined: there is no such zone. */
export function zoneNamed(name: string): Zone | undefined {
  if (name === 'UTC' || name === 'Z') return UTC;
  const [, sign, hours, minutes] = FIXED.exec(name) ?? [];
  if (sign !== undefined) {
    if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
    const offset = (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1);
    return { offsetAt: () => offset, abbreviationAt: () => `${sign}${hours}${minutes === '00' ? '' : minutes}` };
  }
  try {
    return new NamedZone(name);
  } catch {
    return undefined;
  }
}

const OFFSET = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

class NamedZone implements Zone {
  readonly #offsets: Intl.DateTimeFormat;
  readonly #names: Intl.DateTimeFormat;
  /** The offset of the quarter of an hour that was asked for last: no zone changes within one, and asking is slow. */
  #known = { quarter: Number.NaN, offset: 0 };

  constructor(timeZone: string) {
    this.#offsets = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    this.#names = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'short' });
  }

  offsetAt(seconds: number): number {
    const quarter = Math.floor(seconds / 900);
    if (quarter !== this.#known.quarter) this.#known = { quarter, offset: this.#ask(seconds) };
    return this.#known.offset;
  }

  #ask(seconds: number): number {
    const [, sign, hours = 0, minutes = 0, rest = 0] = OFFSET.exec(zoneNameIn(this.#offsets, seconds)) ?? [];
    const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
    return sign === '-' ? -offset : offset;
  }

  abbreviationAt(seconds: number): string {
    return zoneNameIn(this.#names, seconds);
  }
}

const zoneNameIn = (format: Intl.DateTimeFormat, seconds: number): string =>
  format.formatToParts(seconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? '';

/** Where a time does not say its offset it is one of `zone`. In the hour that spring skips, a time after it. */
export function instantOf({ local, offsetSeconds }: CivilTime, zone: Zone): Instant {
  if (offsetSeconds !== undefined) return { ...local, seconds: local.seconds - offsetSeconds };
  // The offset depends on the instant and the instant on the offset: the one before is a guess, the one there decides.
  const before = zone.offsetAt(local.seconds - 86_400);
  const there = zone.offsetAt(local.seconds - before);
  const isConsistent = zone.offsetAt(local.seconds - there) === there;
  return { ...local, seconds: local.seconds - (isConsistent ? there : before) };
}
