import { expect, test } from 'vitest';
import { seeds } from './seeds.ts';

test('a test runs the same few seeds, or the one that is asked for, or more of them', () => {
  expect(seeds(3, {})).toEqual([1, 2, 3]);
  expect(seeds(3, { POLDER_SEED: '17' })).toEqual([17]);
  expect(seeds(3, { POLDER_SEEDS: '5' })).toEqual([1, 2, 3, 4, 5]);
  expect(seeds(3, { POLDER_SEEDS: '6-8' })).toEqual([6, 7, 8]);
  expect(seeds(3, { POLDER_SEED: '17', POLDER_SEEDS: '5' })).toEqual([17]);
});

test('a seed that is no number is refused', () => {
  expect(() => seeds(3, { POLDER_SEED: 'x' })).toThrow('POLDER_SEED is x; it must be a whole number');
  expect(() => seeds(3, { POLDER_SEEDS: '1-' })).toThrow(
    'POLDER_SEEDS is 1-; it must be a whole number or a range of them',
  );
});
