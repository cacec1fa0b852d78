const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Minute, hour, day of the month, month, day of the week: their bounds and the names of their values. */
const SCHEDULE_FIELDS = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: ['', ...MONTHS] },
  { min: 0, max: 6, names: DAYS },
];

/** The first thing that is wrong with a cron line, in the words of the parser that the real server uses. */
export function problemWithSchedule(schedule: string): string | undefined {
  if (schedule.startsWith('@')) {
    const isKnown = DESCRIPTORS.includes(schedule) || /^@every ([0-9.]+(ns|us|µs|ms|s|m|h))+$/.test(schedule);
    return isKnown ? undefined : `unrecognized descriptor: ${schedule}`;
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (const [index, bounds] of SCHEDULE_FIELDS.entries()) {
    for (const range of (fields[index] ?? '').split(',')) {
      const problem = problemWithRange(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

function problemWithRange(range: string, { min, max, names }: Bounds): string | undefined {
  const [span = '', step, ...more] = range.split('/');
  const [from = '', to, ...rest] = span.split('-');
  if (more.length > 0) return `too many slashes: ${range}`;
  if (rest.length > 0) return `too many hyphens: ${range}`;
  const values = [from, to].map((text) =>
    text === undefined || names.indexOf(text.toLowerCase()) < 0 ? text : String(names.indexOf(text.toLowerCase())),
  );
  const isAny = span === '*' || span === '?';
  for (const text of isAny ? [step] : [...values, step]) {
    if (text !== undefined && !/^\d+$/.test(text))
      return `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`;
  }
  if (step === '0') return `step of range should be a positive number: ${range}`;
  if (isAny) return undefined;
  const start = Number(values[0]);
  const end = to === undefined ? (step === undefined ? start : max) : Number(values[1]);
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return undefined;
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
