import { expect, test } from 'vitest';
import { hoistField } from './hoist-field.ts';
import { isUntouched, textOf } from './test-message.ts';

test('any JSON is wrapped', () => {
  expect(textOf(hoistField({ field: 'record' }), '{"id":1}')).toBe('{"record":{"id":1}}');
  expect(textOf(hoistField({ field: '10' }), '1e3')).toBe('{"10":1e3}');
});

test('what is no JSON passes untouched', () => {
  for (const payload of ['no json', '', Buffer.from([0, 255]), null])
    expect(isUntouched(hoistField({ field: 'a' }), payload)).toBe(true);
});

test('a path is refused', () => {
  expect(() => hoistField({ field: 'a.b' })).toThrow("'a.b' is a path");
  expect(() => hoistField({ field: '' })).toThrow('required');
});
