import { expect, test } from 'vitest';
import { compareSizes, milliBytes } from './quantity.ts';

test.each([
  ['1Gi', '1024Mi', 0],
  ['1G', '1Gi', -1],
  ['1.5Gi', '1536Mi', 0],
  ['2e3', '2K', 0],
  ['1Pi', '1000Ti', 1],
  ['9007199254740993', '9007199254740992', 1],
  [undefined, '1Gi', 0],
  ['big', '1Gi', 0],
] as const)('%s compared with %s is %i', (a, b, expected) => {
  expect(compareSizes(a, b)).toBe(expected);
  expect(compareSizes(b, a)).toBe(expected === 0 ? 0 : -expected);
});

test('what is no size is none', () => {
  for (const text of ['', 'Gi', '1Zi', '-1Gi', '1 Gi']) expect(milliBytes(text)).toBeUndefined();
});
