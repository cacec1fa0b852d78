import { expect, test } from 'vitest';
import { isUntouched, NOON, textOf } from './test-message.ts';
import { timestamp } from './timestamp.ts';

const stamped = (config: Parameters<typeof timestamp>[0], text: string) => textOf(timestamp(config, NOON), text);

test.each([
  [{}, '{"a":1}', '{"a":1,"created_at":"2026-03-01T12:00:00Z"}'],
  [
    { fieldName: 'processed_at', format: 'RFC3339' },
    '{"id":1,"name":"Test"}',
    '{"id":1,"name":"Test","processed_at":"2026-03-01T12:00:00Z"}',
  ],
  [{ fieldName: 'ts', format: '2006-01-02 15:04:05' }, '{"id":1}', '{"id":1,"ts":"2026-03-01 12:00:00"}'],
  [{ fieldName: 'ts', format: 'RFC3339Nano' }, '{}', '{"ts":"2026-03-01T12:00:00.12Z"}'],
  [{ fieldName: 'ts', format: 'Unix' }, '{}', '{"ts":"1772366400"}'],
  [{ fieldName: 'ts', format: 'UnixMilli' }, '{}', '{"ts":"1772366400120"}'],
  [{ fieldName: '$.meta.ts' }, '{"meta":{"a":0.10}}', '{"meta":{"a":0.10,"ts":"2026-03-01T12:00:00Z"}}'],
  [{ fieldName: 'a' }, '{"a":1,"b":2}', '{"a":"2026-03-01T12:00:00Z","b":2}'],
  [{ fieldName: '', format: '' }, '{}', '{"created_at":"2026-03-01T12:00:00Z"}'],
])('%j on %s', (config, before, after) => expect(stamped(config, before)).toBe(after));

test('what is no object passes untouched', () => {
  for (const payload of ['null', '[1]', '"x"', '5', 'no json', '', Buffer.from([0, 255]), null]) {
    expect(isUntouched(timestamp({}, NOON), payload)).toBe(true);
  }
});

test('the time is that of the message, not of the first one', () => {
  let now = 0;
  const transform = timestamp({}, { now: () => now });
  expect(textOf(transform, '{}')).toBe('{"created_at":"1970-01-01T00:00:00Z"}');
  now = 61_000;
  expect(textOf(transform, '{}')).toBe('{"created_at":"1970-01-01T00:01:01Z"}');
});
