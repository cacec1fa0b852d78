import { expect, test } from 'vitest';
import { compileFormat, UTC, zoneNamed } from './index.ts';

// 2006-01-02T22:04:05.060070000Z, seven hours west.
const instant = { seconds: Date.parse('2006-01-02T22:04:05Z') / 1000, nanoseconds: 60_070_000 };
const west = zoneNamed('-07:00') ?? UTC;

test.each([
  ['2006-01-02T15:04:05Z07:00', '2006-01-02T15:04:05-07:00'],
  ['RFC3339', '2006-01-02T15:04:05-07:00'],
  ['RFC3339Nano', '2006-01-02T15:04:05.06007-07:00'],
  ['Mon Jan _2 15:04:05 2006', 'Mon Jan  2 15:04:05 2006'],
  ['Monday, 02-Jan-06 15:04:05 MST', 'Monday, 02-Jan-06 15:04:05 -07'],
  ['January 2, 2006', 'January 2, 2006'],
  ['3:04PM', '3:04PM'],
  ['03:4:5 pm', '03:4:5 pm'],
  ['1/2/06', '1/2/06'],
  ['002', '002'],
  ['__2', '  2'],
  ['.000', '.060'],
  ['.999', '.06'],
  ['15:04:05.000000', '15:04:05.060070'],
  ['15:04:05,999999999', '15:04:05,06007'],
  ['-0700 -07:00 -07 Z0700 Z07', '-0700 -07:00 -07 -0700 -07'],
  ['Month Janet', 'Month Janet'],
  ['year _2006', 'year _2006'],
  ['-070000 Z07:00:00', '-070000 -07:00:00'],
  ['', ''],
])('%s', (layout, text) => expect(compileFormat(layout)(instant, west)).toBe(text));

test('UTC is the default, and Z its offset', () => {
  expect(compileFormat('15:04 Z07:00 -0700 MST')(instant)).toBe('22:04 Z +0000 UTC');
});

test('the other half of the day, the other end of the year', () => {
  const late = { seconds: Date.parse('2024-12-31T00:30:00Z') / 1000, nanoseconds: 0 };
  expect(compileFormat('3:04 PM pm Mon January 002 .999 .00')(late)).toBe('12:30 AM am Tue December 366  .00');
});

test('the names for seconds and milliseconds', () => {
  expect(compileFormat('Unix')(instant)).toBe('1136239445');
  expect(compileFormat('UnixMilli')(instant)).toBe('1136239445060');
});

test('a zone has its name and its summer time', () => {
  const amsterdam = zoneNamed('Europe/Amsterdam') ?? UTC;
  const july = { seconds: Date.parse('2024-07-01T00:00:00Z') / 1000, nanoseconds: 0 };
  expect(compileFormat('15:04 -07:00')(july, amsterdam)).toBe('02:00 +02:00');
  expect(compileFormat('MST')(instant, zoneNamed('America/New_York') ?? UTC)).toBe('EST');
});
