import { describe, expect, test } from 'vitest';
import { isUntouched, textOf } from './test-message.ts';
import { timezone } from './timezone.ts';

const MOSCOW = { timezone: 'Europe/Moscow', fields: ['t'] };
const converted = (config: Parameters<typeof timezone>[0], value: string) =>
  textOf(timezone(config), `{"t":${value}}`).slice('{"t":'.length, -1);

test.each([
  ['"2024-01-15T12:00:00Z"', '"2024-01-15T15:00:00+03:00"'],
  ['"2024-01-15T12:00:00.123456789Z"', '"2024-01-15T15:00:00.123456789+03:00"'],
  ['"2024-01-15T12:00:00.120+01:00"', '"2024-01-15T14:00:00.12+03:00"'],
  ['"2024-01-15T12:00:00"', '"2024-01-15T15:00:00+03:00"'],
  ['1705320000', '"2024-01-15T15:00:00+03:00"'],
  ['1705320000000', '"2024-01-15T15:00:00+03:00"'],
  ['"1705320000500"', '"2024-01-15T15:00:00.5+03:00"'],
  ['0', '"1970-01-01T03:00:00+03:00"'],
  ['-1', '"1970-01-01T02:59:59+03:00"'],
  ['1705320000.5', '"2024-01-15T15:00:00.5+03:00"'],
  ['1.70532e9', '"2024-01-15T15:00:00+03:00"'],
  ['"0050-01-01T00:00:00Z"', '"0050-01-01T02:30:17+02:30"'],
])('%s in Moscow', (before, after) => expect(converted(MOSCOW, before)).toBe(after));

test.each([
  ['+05:30', '"2024-01-15T17:30:00+05:30"'],
  ['-08:00', '"2024-01-15T04:00:00-08:00"'],
  ['UTC', '"2024-01-15T12:00:00Z"'],
  ['Europe/London', '"2024-01-15T12:00:00Z"'],
  ['America/New_York', '"2024-01-15T07:00:00-05:00"'],
  ['Asia/Kolkata', '"2024-01-15T17:30:00+05:30"'],
])('noon in %s', (zone, after) =>
  expect(converted({ timezone: zone, fields: ['t'], format: 'RFC3339' }, '"2024-01-15T12:00:00.5Z"')).toBe(after),
);

describe('a time without offset is one of the source', () => {
  test.each([
    ['"2024-07-01T12:00:00"', '"2024-07-01T10:00:00Z"'],
    ['"2024-01-01T12:00:00"', '"2024-01-01T11:00:00Z"'],
    ['"2024-03-31T01:59:59"', '"2024-03-31T00:59:59Z"'],
    ['"2024-03-31T02:30:00"', '"2024-03-31T01:30:00Z"'],
    ['"2024-03-31T03:00:00"', '"2024-03-31T01:00:00Z"'],
    ['"2024-10-27T02:30:00"', '"2024-10-27T00:30:00Z"'],
    ['"2024-10-27T03:00:00"', '"2024-10-27T02:00:00Z"'],
  ])('%s in Amsterdam', (before, after) =>
    expect(converted({ timezone: 'UTC', sourceTimezone: 'Europe/Amsterdam', fields: ['t'] }, before)).toBe(after),
  );
});

test('milliseconds are a number', () => {
  expect(converted({ ...MOSCOW, format: 'UnixMilli' }, '"2024-01-15T12:00:00.1239Z"')).toBe('1705320000123');
});

test('only the listed fields, also in arrays', () => {
  const transform = timezone({ timezone: '+01:00', fields: ['rows.#.t', '$.u'] });
  expect(textOf(transform, '{"rows":[{"t":0,"x":0}],"u":0,"v":0}')).toBe(
    '{"rows":[{"t":"1970-01-01T01:00:00+01:00","x":0}],"u":"1970-01-01T01:00:00+01:00","v":0}',
  );
});

test.each([
  '"soon"',
  '""',
  '"2024-01-15"',
  '"2024-02-30T00:00:00Z"',
  '"2024-01-15T24:00:00Z"',
  '"2024-01-15T12:00:00+99:00"',
  'true',
  '{}',
  '[1]',
  '1e300',
  '1e18',
  '"2024-01-15 12:00:00"',
])('%s is no time and fails the message', (value) => expect(() => converted(MOSCOW, value)).toThrow("'t' is no time"));

test('what is missing or null is skipped, and the message passes untouched', () => {
  for (const payload of ['{ "t": null }', '{}', '[1]', 'no json', Buffer.from([0, 255]), null])
    expect(isUntouched(timezone(MOSCOW), payload)).toBe(true);
});

test('a zone that does not exist is refused', () => {
  expect(() => timezone({ timezone: 'Europe/Atlantis', fields: ['t'] })).toThrow(
    expect.objectContaining({ field: 'timezone' }),
  );
  expect(() => timezone({ timezone: 'UTC', sourceTimezone: '+25:00', fields: ['t'] })).toThrow(
    expect.objectContaining({ field: 'sourceTimezone' }),
  );
});
