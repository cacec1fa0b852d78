/**
 * Time formats as Go spells them, by the example of 2 January 2006, 15:04:05, 7 hours west of UTC. Which digits mean what
 * is Go's: https://pkg.go.dev/time#pkg-constants.
 */
import type { Instant } from './instant.ts';
import { UTC, type Zone } from './zone.ts';

export type Format = (instant: Instant, zone?: Zone) => string;

const NAMED: Readonly<Record<string, string>> = {
  RFC3339: '2006-01-02T15:04:05Z07:00',
  RFC3339Nano: '2006-01-02T15:04:05.999999999Z07:00',
};

/** A name (`RFC3339`, `RFC3339Nano`, `Unix`, `UnixMilli`) or a layout. */
export function compileFormat(format: string): Format {
  if (format === 'Unix') return ({ seconds }) => String(seconds);
  if (format === 'UnixMilli') return (instant) => String(millisecondsOf(instant));
  const parts = partsOf(Object.hasOwn(NAMED, format) ? (NAMED[format] ?? format) : format);
  return (instant, zone = UTC) => {
    const offset = zone.offsetAt(instant.seconds);
    const moment: Moment = {
      local: new Date((instant.seconds + offset) * 1000),
      nanoseconds: instant.nanoseconds,
      offset,
      zone: () => zone.abbreviationAt(instant.seconds),
    };
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : part(moment);
    return text;
  };
}

export const millisecondsOf = ({ seconds, nanoseconds }: Instant): number =>
  seconds * 1000 + Math.floor(nanoseconds / 1e6);

interface Moment {
  /** Its fields in UTC are those of the clock on the wall. */
  readonly local: Date;
  readonly nanoseconds: number;
  readonly offset: number;
  readonly zone: () => string;
}

type Field = (moment: Moment) => string;

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const pad = (number: number, width: number, fill = '0') => String(number).padStart(width, fill);
const hour12 = ({ local }: Moment) => local.getUTCHours() % 12 || 12;
const monthName = ({ local }: Moment) => MONTHS[local.getUTCMonth()] ?? '';
const dayName = ({ local }: Moment) => DAYS[local.getUTCDay()] ?? '';
const dayOfYear = ({ local }: Moment) =>
  Math.floor((local.getTime() - new Date(local).setUTCMonth(0, 1)) / 86_400_000) + 1;

/** Longer ones before those they begin with. */
const FIELDS: readonly (readonly [string, Field])[] = [
  ['January', monthName],
  ['Jan', (moment) => monthName(moment).slice(0, 3)],
  ['Monday', dayName],
  ['Mon', (moment) => dayName(moment).slice(0, 3)],
  ['MST', ({ zone }) => zone()],
  ['002', (moment) => pad(dayOfYear(moment), 3)],
  ['01', ({ local }) => pad(local.getUTCMonth() + 1, 2)],
  ['02', ({ local }) => pad(local.getUTCDate(), 2)],
  ['03', (moment) => pad(hour12(moment), 2)],
  ['04', ({ local }) => pad(local.getUTCMinutes(), 2)],
  ['05', ({ local }) => pad(local.getUTCSeconds(), 2)],
  ['06', ({ local }) => pad(local.getUTCFullYear() % 100, 2)],
  ['15', ({ local }) => pad(local.getUTCHours(), 2)],
  ['1', ({ local }) => String(local.getUTCMonth() + 1)],
  ['2006', ({ local }) => pad(local.getUTCFullYear(), 4)],
  ['2', ({ local }) => String(local.getUTCDate())],
  ['_2006', ({ local }) => `_${pad(local.getUTCFullYear(), 4)}`],
  ['__2', (moment) => pad(dayOfYear(moment), 3, ' ')],
  ['_2', ({ local }) => pad(local.getUTCDate(), 2, ' ')],
  ['3', (moment) => String(hour12(moment))],
  ['4', ({ local }) => String(local.getUTCMinutes())],
  ['5', ({ local }) => String(local.getUTCSeconds())],
  ['PM', ({ local }) => (local.getUTCHours() < 12 ? 'AM' : 'PM')],
  ['pm', ({ local }) => (local.getUTCHours() < 12 ? 'am' : 'pm')],
  ['-070000', ({ offset }) => offsetText(offset, '', 3)],
  ['-07:00:00', ({ offset }) => offsetText(offset, ':', 3)],
  ['-0700', ({ offset }) => offsetText(offset, '', 2)],
  ['-07:00', ({ offset }) => offsetText(offset, ':', 2)],
  ['-07', ({ offset }) => offsetText(offset, '', 1)],
  ['Z070000', ({ offset }) => (offset === 0 ? 'Z' : offsetText(offset, '', 3))],
  ['Z07:00:00', ({ offset }) => (offset === 0 ? 'Z' : offsetText(offset, ':', 3))],
  ['Z0700', ({ offset }) => (offset === 0 ? 'Z' : offsetText(offset, '', 2))],
  ['Z07:00', ({ offset }) => (offset === 0 ? 'Z' : offsetText(offset, ':', 2))],
  ['Z07', ({ offset }) => (offset === 0 ? 'Z' : offsetText(offset, '', 1))],
];

function offsetText(offset: number, separator: string, units: number): string {
  const all = [Math.floor(Math.abs(offset) / 3600), Math.floor(Math.abs(offset) / 60) % 60, Math.abs(offset) % 60];
  const text = all.slice(0, units).map((unit) => pad(unit, 2));
  return (offset < 0 ? '-' : '+') + text.join(separator);
}

/** Zeros print as many digits, nines without the zeros at the end. A digit behind them makes it no fraction. */
const FRACTION = /^[.,](0+|9+)(?!\d)/;

function partsOf(layout: string): readonly (string | Field)[] {
  const parts: (string | Field)[] = [];
  let literal = '';
  for (let at = 0; at < layout.length; ) {
    const [length, field] = fieldAt(layout, at);
    if (field === undefined) {
      literal += layout[at];
      at += 1;
      continue;
    }
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push(field);
    at += length;
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

function fieldAt(layout: string, at: number): readonly [number, Field?] {
  const first = layout[at];
  if (first === '.' || first === ',') {
    const digits = FRACTION.exec(layout.slice(at))?.[1];
    return digits === undefined ? [1] : [digits.length + 1, fraction(first, digits)];
  }
  for (const [name, field] of FIELDS) {
    // `Jan` and `Mon` begin other words, too: `Janet`, `Month`.
    const isWord = name === 'Jan' || name === 'Mon';
    const isInWord = isWord && /[a-z]/.test(layout[at + name.length] ?? '');
    if (layout.startsWith(name, at) && !isInWord) return [name.length, field];
  }
  return [1];
}

const fraction =
  (mark: string, digits: string): Field =>
  ({ nanoseconds }) => {
    const shown = pad(nanoseconds, 9).padEnd(digits.length, '0').slice(0, digits.length);
    if (digits.startsWith('0')) return mark + shown;
    const trimmed = shown.replace(/0+$/, '');
    return trimmed === '' ? '' : mark + trimmed;
  };
