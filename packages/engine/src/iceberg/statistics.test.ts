import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareTexts, statisticsOf } from './statistics.ts';
import type { Field, PrimitiveType } from './types.ts';

const column = (type: PrimitiveType): Field => ({ id: 4, name: 'a', isRequired: false, type });

test('no text and no bytes of a column are outside of its bounds, however long they are', () => {
  const long = fc.string({
    unit: fc.constantFrom('a', 'z', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10ffff}', '😀'),
    maxLength: 40,
  });
  fc.assert(
    fc.property(fc.array(fc.option(long), { minLength: 1, maxLength: 10 }), (cells) => {
      const found = statisticsOf(column({ kind: 'string' }), cells);
      expect(found?.nulls).toBe(BigInt(cells.filter((cell) => cell === null).length));
      for (const cell of cells) {
        if (cell === null) continue;
        const bytes = Buffer.from(cell);
        expect(Buffer.compare(found?.lower ?? Buffer.alloc(0), bytes)).toBeLessThanOrEqual(0);
        if (found?.upper) expect(Buffer.compare(found.upper, bytes)).toBeGreaterThanOrEqual(0);
        expect(found?.lower?.toString().isWellFormed()).toBe(true);
        expect(Array.from(found?.upper?.toString() ?? '').length).toBeLessThanOrEqual(16);
      }
    }),
  );
  const bytes = fc.uint8Array({ maxLength: 30 }).map((some) => Buffer.from(some));
  fc.assert(
    fc.property(fc.array(bytes, { minLength: 1, maxLength: 10 }), (cells) => {
      const { lower, upper } = statisticsOf(column({ kind: 'binary' }), cells) ?? {};
      for (const cell of cells) {
        expect(Buffer.compare(lower ?? Buffer.alloc(0), cell)).toBeLessThanOrEqual(0);
        if (upper) expect(Buffer.compare(upper, cell)).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

test('texts are ordered as their UTF-8 is', () => {
  const unit = fc.constantFrom('a', 'é', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}');
  fc.assert(
    fc.property(fc.string({ unit }), fc.string({ unit }), (a, b) => {
      expect(Math.sign(compareTexts(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('numbers have exact bounds; NaN is counted and bounds nothing; zeros are wide', () => {
  const long = statisticsOf(column({ kind: 'long' }), [5n, null, -(2n ** 63n), 2n ** 63n - 1n]);
  expect(long?.lower?.readBigInt64LE()).toBe(-(2n ** 63n));
  expect(long?.upper?.readBigInt64LE()).toBe(2n ** 63n - 1n);
  expect([long?.values, long?.nulls, long?.nans]).toEqual([4n, 1n, undefined]);
  const double = statisticsOf(column({ kind: 'double' }), [Number.NaN, 0, Number.NaN]);
  expect(double?.nans).toBe(2n);
  expect(Object.is(double?.lower?.readDoubleLE(), -0)).toBe(true);
  expect(Object.is(double?.upper?.readDoubleLE(), 0)).toBe(true);
  const decimal = statisticsOf(column({ kind: 'decimal', precision: 9, scale: 2 }), [-129n, 128n]);
  expect([decimal?.lower?.toString('hex'), decimal?.upper?.toString('hex')]).toEqual(['ff7f', '0080']);
});

test('what has no order that all agree on has no bounds', () => {
  expect(statisticsOf(column({ kind: 'uuid' }), [Buffer.alloc(16)])).toMatchObject({ values: 1n, lower: undefined });
  expect(statisticsOf(column({ kind: 'double' }), [Number.NaN])).toMatchObject({ lower: undefined, upper: undefined });
  expect(statisticsOf(column({ kind: 'long' }), [null])).toMatchObject({
    nulls: 1n,
    lower: undefined,
    upper: undefined,
  });
});
