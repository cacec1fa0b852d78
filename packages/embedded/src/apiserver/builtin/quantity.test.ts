import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonical, formatQuantity, parseQuantity, quantityProblem } from './quantity.ts';

const spelling = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.oneof(
      fc.nat({ max: 10 ** 7 }).map(String),
      fc.tuple(fc.nat({ max: 9999 }), fc.nat({ max: 999 })).map((p) => p.join('.')),
    ),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'E-3'),
  )
  .map((parts) => parts.join(''));

test('the canonical spelling is the same amount, and its own canonical spelling', () => {
  fc.assert(
    fc.property(spelling, (text) => {
      const once = canonical(text);
      expect(parseQuantity(once)?.nanos).toBe(parseQuantity(text)?.nanos);
      expect(canonical(once)).toBe(once);
    }),
  );
});

test.each([['1e'], ['one'], [''], ['1 Gi'], ['1Kib'], [null], [{}]])('%s is no quantity', (value) => {
  expect(parseQuantity(value)).toBeUndefined();
  expect(canonical(value)).toBe(value);
});

test('a negative amount keeps its sign', () => {
  expect(formatQuantity({ nanos: -1_500_000_000n, form: 'decimal' })).toBe('-1500m');
});

test.each([
  ['1e', "unable to parse quantity's suffix"],
  ['1ii', "unable to parse quantity's suffix"],
  ['1Mib', /^quantities must match/],
  ['', /^quantities must match/],
])('%s is refused in the words of the real server', (text, problem) => {
  expect(quantityProblem(text)).toMatch(problem);
});

test.each(['Gi', '.', '+', 'm', 'e3'])('%s is zero', (text) => {
  expect(canonical(text)).toBe('0');
});
