import { durationOf } from '@polder/engine/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeDuration } from './durations.ts';

test.each([
  [0, '0ms'],
  [5, '5ms'],
  [1_000, '1s'],
  [90_000, '1m30s'],
  [3_600_000, '1h'],
  [3_661_001, '1h1m1s1ms'],
])('%d ms is written %s', (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});

test('what is written is read as the same', () => {
  fc.assert(fc.property(fc.nat(), (ms) => durationOf(describeDuration(ms)) === ms));
});
