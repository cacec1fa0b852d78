import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstFree, formatIndexes, hasIndex, indexesOf, overlap, parseIndexes, sizeOf, union } from './indexes.ts';

test.each([
  [[0, 1, 2, 4], '0-2,4'],
  [[1, 3, 4, 5, 7], '1,3-5,7'],
  [[2, 3], '2,3'],
  [[], ''],
])('%j is written %s', (indexes, text) => {
  expect(formatIndexes(indexesOf(indexes))).toBe(text);
  expect(parseIndexes(text, 100)).toEqual(indexesOf(indexes));
});

test('what is not below the number of completions is left out', () => {
  expect(formatIndexes(parseIndexes('0-3,5-9,12', 7))).toBe('0-3,5,6');
});

test('spans do what sets do', () => {
  const numbers = fc.array(fc.nat(30), { maxLength: 20 });
  fc.assert(
    fc.property(numbers, numbers, fc.nat(30), fc.nat(10), (some, others, completions, count) => {
      const [a, b] = [new Set(some), new Set(others)];
      const [x, y] = [indexesOf(some), indexesOf(others)];
      expect(union(x, y)).toEqual(indexesOf(a.union(b)));
      expect([sizeOf(x), overlap(x, y)]).toEqual([a.size, a.intersection(b).size]);
      for (let index = 0; index <= 31; index++) expect(hasIndex(x, index)).toBe(a.has(index));
      expect(parseIndexes(formatIndexes(x), 100)).toEqual(x);
      const free = Array.from({ length: completions }, (_, index) => index).filter((index) => !a.has(index));
      expect(firstFree(x, completions, count)).toEqual(free.slice(0, count));
    }),
  );
});
