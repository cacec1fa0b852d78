import { expect, test } from 'vitest';
import { runsOf } from './runs.ts';

test('what comes again begins a run, also beside one that goes on', () => {
  expect(runsOf([])).toEqual([]);
  expect(runsOf([0, 1, 2, 3])).toEqual([{ from: 0, to: 3 }]);
  expect(runsOf([0, 1, 2, 1, 2, 3])).toEqual([
    { from: 0, to: 2 },
    { from: 1, to: 3 },
  ]);
  expect(runsOf([0, 1, 0, 2, 1, 3])).toEqual([
    { from: 0, to: 3 },
    { from: 0, to: 1 },
  ]);
});
