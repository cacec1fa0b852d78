import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Groups } from './groups.ts';

const rows = fc.array(
  fc.record({
    shape: fc.constantFrom('a', 'b', 'c'),
    identity: fc.constantFrom('1', '2', '3', undefined),
    size: fc.nat(5),
  }),
);

test('every row is in one group of its shape, and rows with one key are written in the order in which they came', () => {
  fc.assert(
    fc.property(rows, (all) => {
      const groups = new Groups<number, string>(10);
      all.forEach(({ shape, identity, size }, place) => groups.add(place, shape, { identity, size }));
      const written = groups.all.flatMap(({ rows }) => rows);
      expect(written.toSorted((a, b) => a - b)).toEqual(all.map((_, place) => place));
      for (const { shape, rows } of groups.all) {
        expect(rows.every((place) => all[place]?.shape === shape)).toBe(true);
        expect(rows.reduce((sum, place) => sum + (all[place]?.size ?? 0), 0)).toBeLessThanOrEqual(10);
      }
      for (const key of ['1', '2', '3']) {
        const ofKey = written.filter((place) => all[place]?.identity === key);
        expect(ofKey).toEqual(ofKey.toSorted((a, b) => a - b));
      }
    }),
  );
});

test('rows of one shape share a group although others came between', () => {
  const groups = new Groups<number, string>(10);
  for (const [place, shape] of ['a', 'b', 'a', 'b'].entries())
    groups.add(place, shape, { identity: String(place), size: 1 });
  expect(groups.all).toMatchObject([{ rows: [0, 2] }, { rows: [1, 3] }]);
});
