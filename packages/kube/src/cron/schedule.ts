/** When a cron job runs: at a fixed distance from its last run, or at the minutes that match. */
export type Schedule =
  | { readonly is: 'every'; readonly ms: number }
  | {
      readonly is: 'cron';
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      /** Days of the month. */
      readonly days: ReadonlySet<number>;
      /** From 1 to 12. */
      readonly months: ReadonlySet<number>;
      /** From Sunday, which is 0. */
      readonly weekdays: ReadonlySet<number>;
      /** A day has to match both lists if one of them is `*`; otherwise either will do. */
      readonly needsBothDays: boolean;
    };

const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Bounds of a field and the names of its values. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MINUTES: Bounds = { min: 0, max: 59, names: [] };
const HOURS: Bounds = { min: 0, max: 23, names: [] };
const DAYS_OF_MONTH: Bounds = { min: 1, max: 31, names: [] };
const MONTHS_OF_YEAR: Bounds = { min: 1, max: 12, names: ['', ...MONTHS] };
const DAYS_OF_WEEK: Bounds = { min: 0, max: 6, names: DAYS };

/** What is wrong with a cron line, in the words of the parser that the real server uses. */
export class BadSchedule extends Error {}

/** Throws `BadSchedule` for the first thing that is wrong. */
export function parseSchedule(text: string): Schedule {
  if (text.startsWith('@every ')) return { is: 'every', ms: delayOf(text) };
  const line = text.startsWith('@') ? DESCRIPTORS[text] : text;
  if (line === undefined) throw new BadSchedule(`unrecognized descriptor: ${text}`);
  const fields = line.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new BadSchedule(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const minutes = parseField(minute, MINUTES);
  const hours = parseField(hour, HOURS);
  const days = parseField(day, DAYS_OF_MONTH);
  const months = parseField(month, MONTHS_OF_YEAR);
  const weekdays = parseField(weekday, DAYS_OF_WEEK);
  return {
    is: 'cron',
    minutes: minutes.values,
    hours: hours.values,
    days: days.values,
    months: months.values,
    weekdays: weekdays.values,
    needsBothDays: days.isAny || weekdays.isAny,
  };
}

export function problemWithSchedule(text: string): string | undefined {
  try {
    parseSchedule(text);
    return undefined;
  } catch (error) {
    if (error instanceof BadSchedule) return error.message;
    throw error;
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Whole seconds, and at least one. */
function delayOf(text: string): number {
  const duration = text.slice('@every '.length);
  const parts = [...duration.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)];
  const isWhole = duration.replace(/^[-+]/, '') === parts.map(([part]) => part).join('');
  if (parts.length === 0 || !isWhole) {
    throw new BadSchedule(`failed to parse duration ${text}: time: invalid duration "${duration}"`);
  }
  const ms = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNIT_MS[unit] ?? 0), 0);
  return duration.startsWith('-') ? 1000 : Math.max(1000, Math.floor(ms / 1000) * 1000);
}

interface Values {
  readonly values: ReadonlySet<number>;
  /** Whether a `*` without a step is among them. */
  readonly isAny: boolean;
}

function parseField(field: string, bounds: Bounds): Values {
  const ranges = field
    .split(',')
    .filter((range) => range !== '')
    .map((range) => parseRange(range, bounds));
  return {
    values: new Set(ranges.flatMap(({ values }) => [...values])),
    isAny: ranges.some(({ isAny }) => isAny),
  };
}

function parseRange(range: string, { min, max, names }: Bounds): Values {
  const [span = '', stepText, ...more] = range.split('/');
  const [from = '', to, ...rest] = span.split('-');
  const isStar = from === '*' || from === '?';
  const start = isStar ? min : valueOf(from, names);
  if (!isStar && rest.length > 0) throw new BadSchedule(`too many hyphens: ${range}`);
  const isOpen = to === undefined && stepText !== undefined;
  const last = isStar ? max : to === undefined ? start : valueOf(to, names);
  if (more.length > 0) throw new BadSchedule(`too many slashes: ${range}`);
  const step = stepText === undefined ? 1 : valueOf(stepText, []);
  // `5/15` means from 5 on.
  const end = isOpen ? max : last;
  if (start < min) throw new BadSchedule(`beginning of range (${start}) below minimum (${min}): ${range}`);
  if (end > max) throw new BadSchedule(`end of range (${end}) above maximum (${max}): ${range}`);
  if (start > end) throw new BadSchedule(`beginning of range (${start}) beyond end of range (${end}): ${range}`);
  if (step === 0) throw new BadSchedule(`step of range should be a positive number: ${range}`);
  const values = new Set<number>();
  for (let value = start; value <= end; value += step) values.add(value);
  return { values, isAny: isStar && step === 1 };
}

function valueOf(text: string, names: readonly string[]): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0 && text !== '') return named;
  if (/^\+?\d+$/.test(text)) return Number(text);
  throw new BadSchedule(`failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`);
}

/** A name: an offset such as `+01:00` is none. */
export function isTimeZone(name: string): boolean {
  if (/^[-+]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
