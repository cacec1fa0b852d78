import { expect, test } from 'vitest';
import { isAtLeast, normalUri } from './settings.ts';

test.each([
  ['1.19.0', '1.17.1', true],
  ['1.17.1', '1.17.1', true],
  ['1.17.0', '1.17.1', false],
  ['1.9.4', '1.10.0', false],
  ['2.0.0', '1.19.9', true],
])('%s is at least %s: %s', (version, other, expected) => {
  expect(isAtLeast(version, other)).toBe(expected);
});

test('a URI ends with a slash', () => {
  expect(normalUri('http://a:6335')).toBe('http://a:6335/');
});
