import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextTime } from './next-time.ts';
import { parseSchedule, type Schedule } from './schedule.ts';
import { formatInZone, wallTimeAt } from './time-zone.ts';

const next = (schedule: string, after: string, zone = 'UTC') => {
  const time = nextTime(parseSchedule(schedule), Date.parse(after), zone);
  return time === undefined ? undefined : formatInZone(time, zone);
};

test.each([
  ['*/15 * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:15:00Z'],
  ['*/15 * * * *', '2026-01-01T00:14:59Z', '2026-01-01T00:15:00Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 9 * * mon-fri', '2026-11-13T10:00:00Z', '2026-11-16T09:00:00Z'],
  // Both the 13th and every Friday, since neither is `*`.
  ['0 0 13 * fri', '2026-11-07T00:00:00Z', '2026-11-13T00:00:00Z'],
  ['0 0 13 * fri', '2026-11-13T00:00:00Z', '2026-11-20T00:00:00Z'],
  ['@weekly', '2026-11-16T00:00:00Z', '2026-11-22T00:00:00Z'],
  ['@every 1h30m', '2026-11-16T00:00:10.5Z', '2026-11-16T01:30:10Z'],
])('%s is due after %s at %s', (schedule, after, due) => {
  expect(next(schedule, after)).toBe(due);
});

test('a day that never comes is never due', () => {
  expect(next('0 0 30 2 *', '2026-01-01T00:00:00Z')).toBeUndefined();
});

test('what falls into the hour that is skipped in spring waits for the next day', () => {
  expect(next('30 2 * * *', '2026-03-28T12:00:00Z', 'Europe/Amsterdam')).toBe('2026-03-30T02:30:00+02:00');
  expect(next('0 * * * *', '2026-03-29T00:30:00Z', 'Europe/Amsterdam')).toBe('2026-03-29T03:00:00+02:00');
});

test('what falls into the hour that is doubled in autumn is due twice', () => {
  const zone = 'Europe/Amsterdam';
  expect(next('30 2 * * *', '2026-10-24T12:00:00Z', zone)).toBe('2026-10-25T02:30:00+02:00');
  expect(next('30 2 * * *', '2026-10-25T00:30:00Z', zone)).toBe('2026-10-25T02:30:00+01:00');
  expect(next('30 2 * * *', '2026-10-25T01:30:00Z', zone)).toBe('2026-10-26T02:30:00+01:00');
});

/** Answers of the library that the real controller uses, for zones that change their clocks at midnight or by half an hour. */
test.each([
  ['0 5 * * *', '2024-03-30T12:00:00Z', 'Asia/Beirut', '2024-03-31T05:00:00+03:00'],
  ['0 5 31 3 *', '2024-03-29T12:00:00Z', 'Asia/Beirut', '2025-03-31T05:00:00+03:00'],
  ['0 0 * * *', '2017-10-14T12:00:00Z', 'America/Sao_Paulo', '2017-10-16T00:00:00-02:00'],
  ['30 1 * * *', '2026-04-04T12:00:00Z', 'Australia/Lord_Howe', '2026-04-05T01:30:00+11:00'],
])('%s is due after %s in %s at %s', (schedule, after, zone, due) => {
  expect(next(schedule, after, zone)).toBe(due);
});

test('the next time is the first minute that matches on the clock of the zone', () => {
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min, max }).map(String),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.integer({ min: 1, max: 20 }).map((step) => `*/${step}`),
    );
  const schedules = fc.tuple(field(0, 59), field(0, 23), field(1, 31), fc.constant('*'), field(0, 6));
  const zones = fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney');
  // Half of the time around a change of clocks somewhere.
  const changes = [
    '2026-03-29T01:00Z',
    '2026-10-25T01:00Z',
    '2026-03-08T07:00Z',
    '2026-11-01T06:00Z',
    '2026-04-04T16:00Z',
  ];
  const times = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -86_400, max: 86_400 }))
    .map(([change, seconds]) => Date.parse(change) + seconds * 1000);
  fc.assert(
    fc.property(schedules, zones, times, (fields, zone, after) => {
      const schedule = parseSchedule(fields.join(' '));
      const slow = minuteByMinute(schedule, after, zone);
      if (slow !== undefined) expect(nextTime(schedule, after, zone)).toBe(slow);
    }),
    { numRuns: 100 },
  );
});

/** Looks at the clock every minute, for two days. */
function minuteByMinute(schedule: Schedule, after: number, zone: string): number | undefined {
  if (schedule.is !== 'cron') return undefined;
  const { minutes, hours, days, months, weekdays, needsBothDays } = schedule;
  const start = Math.floor(after / 60_000 + 1) * 60_000;
  for (let time = start; time < start + 2 * 86_400_000; time += 60_000) {
    const at = wallTimeAt(time, zone);
    const matches = [days.has(at.day), weekdays.has(at.weekday)];
    const isDay = needsBothDays ? matches.every(Boolean) : matches.some(Boolean);
    if (isDay && months.has(at.month) && hours.has(at.hour) && minutes.has(at.minute)) return time;
  }
  return undefined;
}
