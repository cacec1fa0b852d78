import { expect, test } from 'vitest';
import { filter } from './filter.ts';
import { isUntouched, textsOf } from './test-message.ts';

test.each([
  ['active', '{"active":true}', true],
  ['active', '{"active":false}', false],
  ['name', '{"name":"test"}', true],
  ['name', '{"name":""}', false],
  ['count', '{"count":5}', true],
  ['count', '{"count":0}', false],
  ['user.active', '{"user":{"active":true}}', true],
  ['missing', '{"active":true}', false],
  ['value', '{"value":null}', false],
  ['$.active', '{"active":true}', true],
  ["$.status == 'active'", '{"status":"active"}', true],
])('%s on %s', (condition, payload, passes) => {
  if (passes) expect(isUntouched(filter({ condition }), payload)).toBe(true);
  else expect(textsOf(filter({ condition }), payload)).toEqual([]);
});

test('what is no JSON meets no condition', () => {
  for (const payload of ['no json', '', Buffer.from([0, 1, 255]), null])
    expect(textsOf(filter({ condition: 'a' }), payload)).toEqual([]);
});

test('a condition that can not be read says where', () => {
  expect(() => filter({ condition: 'a = 5' })).toThrow(
    expect.objectContaining({ field: 'condition', message: "'a = 5', position 3: to compare write '==' or '!='" }),
  );
});
