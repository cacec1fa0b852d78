import { expect, test } from 'vitest';
import { structFlatten } from './struct-flatten.ts';
import { isUntouched, textOf } from './test-message.ts';

const person =
  '{"content":{"id":42,"name":{"first":"David","middle":null,"last":"Wong"},"tags":["a",{"b":1}]},"active":true}';

test('objects become one, their keys joined', () => {
  expect(textOf(structFlatten(), person)).toBe(
    '{"content.id":42,"content.name.first":"David","content.name.middle":null,"content.name.last":"Wong","content.tags":["a",{"b":1}],"active":true}',
  );
  expect(textOf(structFlatten({ delimiter: '_' }), '{"a":{"b":0.10}}')).toBe('{"a_b":0.10}');
});

test('an empty object leaves nothing, and of equal keys the last one wins', () => {
  expect(textOf(structFlatten(), '{"a":{},"b":1}')).toBe('{"b":1}');
  expect(textOf(structFlatten(), '{"a.b":1,"a":{"b":2}}')).toBe('{"a.b":2}');
});

test('what is flat, or no object, passes untouched', () => {
  for (const payload of [
    '{ "a": [ {"b": {}} ] }',
    '{}',
    '[{"a":{"b":1}}]',
    '5',
    'no json',
    Buffer.from([0, 255]),
    null,
  ]) {
    expect(isUntouched(structFlatten(), payload)).toBe(true);
  }
});

test('64 levels are the limit', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  expect(textOf(structFlatten(), nested(64))).toBe(`{"${'a.'.repeat(63)}a":1}`);
  expect(() => textOf(structFlatten(), nested(65))).toThrow('deeper than 64 levels');
});

test('an empty delimiter is refused', () => {
  expect(() => structFlatten({ delimiter: '' })).toThrow('must not be empty');
});
