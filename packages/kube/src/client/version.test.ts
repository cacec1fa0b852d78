import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtLeast } from './version.ts';

test('versions of any length compare as whole numbers', () => {
  const version = fc.bigInt({ min: 1n, max: 2n ** 80n });
  fc.assert(fc.property(version, version, (a, b) => isAtLeast(String(a), String(b)) === a >= b));
});

test('a version that cannot be compared holds nobody up', () => {
  expect(isAtLeast('abc', '9')).toBe(true);
  expect(isAtLeast('9', '010')).toBe(true);
  expect(isAtLeast('9', '')).toBe(true);
});
