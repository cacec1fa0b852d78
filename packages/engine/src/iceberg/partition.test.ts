import { expect, test } from 'vitest';
import { bytesOfCell, longBytes } from './binary.ts';
import { dayOf, microsOf, timeOfDayOf } from './calendar.ts';
import type { Cell } from './cell.ts';
import { murmur3 } from './murmur3.ts';
import { partitionerOf } from './partition.ts';
import type { PrimitiveType } from './types.ts';

test('buckets are hashed as the specification shows (its appendix B)', () => {
  const text = (value: string) => murmur3(Buffer.from(value));
  expect(murmur3(longBytes(34n))).toBe(2017239379);
  expect(murmur3(bytesOfCell({ kind: 'decimal', precision: 9, scale: 2 }, 1420n) ?? Buffer.alloc(0))).toBe(-500754589);
  expect(murmur3(longBytes(BigInt(dayOf('2017-11-16') ?? 0)))).toBe(-653330422);
  expect(murmur3(longBytes(timeOfDayOf('22:31:08') ?? 0n))).toBe(-662762989);
  expect(murmur3(longBytes(microsOf('2017-11-16T22:31:08')?.micros ?? 0n))).toBe(-2047944441);
  expect(murmur3(longBytes(microsOf('2017-11-16T14:31:08-08:00')?.micros ?? 0n))).toBe(-2047944441);
  expect(text('iceberg')).toBe(1210000089);
  expect(murmur3(Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex'))).toBe(1488055340);
  expect(murmur3(Buffer.from([0, 1, 2, 3]))).toBe(-188683207);
});

function partitionOf(type: PrimitiveType, transform: string, cell: Cell): unknown {
  const schema = { id: 0, fields: [{ id: 1, name: 'a', isRequired: false, type }] };
  const spec = { id: 0, fields: [{ sourceId: 1, id: 1000, name: 'p', transform }] };
  return partitionerOf(spec, schema)([cell]).record['f1000'];
}

test('values are cut as the specification shows', () => {
  expect([1, -1].map((cell) => partitionOf({ kind: 'int' }, 'truncate[10]', cell))).toEqual([0, -10]);
  expect(partitionOf({ kind: 'long' }, 'truncate[10]', -1n)).toBe(-10n);
  expect(partitionOf({ kind: 'decimal', precision: 4, scale: 2 }, 'truncate[50]', 1065n)).toEqual(
    Buffer.from([0x04, 0x1a]),
  );
  expect(partitionOf({ kind: 'string' }, 'truncate[3]', 'ice😀berg')).toBe('ice');
  expect(partitionOf({ kind: 'string' }, 'truncate[4]', 'ice😀berg')).toBe('ice😀');
});

test('moments before 1970 belong to the hour, day, month and year they are in', () => {
  const at = (transform: string, text: string) =>
    partitionOf({ kind: 'timestamp', isUtc: true }, transform, microsOf(text)?.micros ?? null);
  expect(['hour', 'day', 'month', 'year'].map((unit) => at(unit, '1969-12-31T23:59:59.999999Z'))).toEqual([
    -1, -1, -1, -1,
  ]);
  expect(['hour', 'day', 'month', 'year'].map((unit) => at(unit, '2017-11-16T22:31:08Z'))).toEqual([
    419_686, 17_486, 574, 47,
  ]);
  expect(partitionOf({ kind: 'date' }, 'month', dayOf('2017-11-16') ?? null)).toBe(574);
});

test('null has a partition of its own, void has no other, and equal values are together', () => {
  const transforms = ['identity', 'void', 'bucket[16]', 'truncate[4]'];
  expect(transforms.map((transform) => partitionOf({ kind: 'string' }, transform, null))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(partitionOf({ kind: 'string' }, 'void', 'x')).toBe(null);
  const schema = { id: 0, fields: [{ id: 1, name: 'a', isRequired: false, type: { kind: 'long' } as const }] };
  const spec = { id: 0, fields: [{ sourceId: 1, id: 1000, name: 'p', transform: 'identity' }] };
  const keys = [1n, 1n, 2n, null].map((cell) => partitionerOf(spec, schema)([cell]).key);
  expect(new Set(keys).size).toBe(3);
  expect(keys[0]).toBe(keys[1]);
});

test('a transform that is not known, or not for its column, is named', () => {
  expect(() => partitionOf({ kind: 'long' }, 'zorder', 1n)).toThrow('partition field "p" has the transform zorder');
  expect(() => partitionOf({ kind: 'string' }, 'day', 'x')).toThrow('has the transform day');
});
