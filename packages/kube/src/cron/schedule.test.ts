import { expect, test } from 'vitest';
import { isTimeZone, problemWithSchedule } from './schedule.ts';

test.each(['* * * * *', '*/5 0-6,12 1 jan-mar MON', '@daily', '@every 1h30m', '0 0 ? * 0', '1-10/2 * * * *'])(
  '%s is a schedule',
  (schedule) => {
    expect(problemWithSchedule(schedule)).toBeUndefined();
  },
);

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['9-3 * * * *', 'beginning of range (9) beyond end of range (3): 9-3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
])('%s is none: %s', (schedule, problem) => {
  expect(problemWithSchedule(schedule)).toBe(problem);
});

test('a time zone is one that the platform knows', () => {
  expect(isTimeZone('Europe/Amsterdam')).toBe(true);
  expect(isTimeZone('Europe/Atlantis')).toBe(false);
});
