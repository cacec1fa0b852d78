import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Json, parseJson, printJson } from '../json/index.ts';
import { type Cell, Misfit, toCell } from './cell.ts';
import { readDataFile } from './data-file-reader.ts';
import { encodeDataFile } from './data-file-writer.ts';
import type { Field, Schema, Type } from './types.ts';

/** A type, and values of it as they come out of a file. */
interface Sample {
  readonly type: Type;
  readonly json: fc.Arbitrary<string>;
}

const digits = (count: number) => fc.bigInt({ min: -(10n ** BigInt(count)) + 1n, max: 10n ** BigInt(count) - 1n });
const quoted = (texts: fc.Arbitrary<string>) => texts.map((text) => JSON.stringify(text));
const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
const moment = micros.map((value) => {
  const fraction = ((value % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((value - fraction) / 1_000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(fraction).padStart(6, '0')}`;
});

function decimal(precision: number, scale: number): Sample {
  const json = digits(precision).map((unscaled) => {
    const text = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
    const spelled = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
    return unscaled < 0n ? `-${spelled}` : spelled;
  });
  return { type: { kind: 'decimal', precision, scale }, json };
}

const PRIMITIVES: readonly Sample[] = [
  { type: { kind: 'boolean' }, json: fc.boolean().map(String) },
  { type: { kind: 'int' }, json: fc.integer().map(String) },
  { type: { kind: 'long' }, json: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) },
  {
    type: { kind: 'double' },
    json: fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (Object.is(one, -0) ? '-0' : String(one))),
  },
  { type: { kind: 'double' }, json: fc.constantFrom('"NaN"', '"Infinity"', '"-Infinity"') },
  { type: { kind: 'float' }, json: fc.constantFrom('0.1', '16777216', '3.4028235e+38', '-1.5', '1.4013e-45', '"NaN"') },
  decimal(9, 2),
  decimal(18, 0),
  decimal(38, 18),
  { type: { kind: 'date' }, json: quoted(moment.map((text) => text.slice(0, 10))) },
  { type: { kind: 'time' }, json: quoted(moment.map((text) => text.slice(11))) },
  { type: { kind: 'timestamp', isUtc: true }, json: quoted(moment.map((text) => `${text}Z`)) },
  { type: { kind: 'timestamp', isUtc: false }, json: quoted(moment) },
  {
    type: { kind: 'timestamp-ns', isUtc: true },
    json: quoted(fc.constantFrom('2026-01-31T08:00:00.123456789Z', '1969-12-31T23:59:59.999999999Z')),
  },
  { type: { kind: 'string' }, json: quoted(fc.string({ unit: 'grapheme' })) },
  { type: { kind: 'uuid' }, json: quoted(fc.uuid()) },
  { type: { kind: 'binary' }, json: quoted(fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))) },
  {
    type: { kind: 'fixed', length: 3 },
    json: quoted(fc.uint8Array({ minLength: 3, maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('base64'))),
  },
];

/** Ids are given afterwards. */
const part = (name: string, type: Type, isRequired = false): Field => ({ id: 0, name, isRequired, type });
const orNull = (json: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 4, arbitrary: json }, { weight: 1, arbitrary: fc.constant('null') });

const samples: fc.Arbitrary<Sample> = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...PRIMITIVES),
    tie('sample').map(({ type, json }) => ({
      type: { kind: 'list' as const, element: part('element', type) },
      json: fc.array(orNull(json), { maxLength: 4 }).map((items) => `[${items.join()}]`),
    })),
    tie('sample').map(({ type, json }) => ({
      type: { kind: 'map' as const, key: part('key', { kind: 'string' }, true), value: part('value', type) },
      json: fc
        .uniqueArray(fc.constantFrom('a', 'b c', 'ü', ''), { maxLength: 3 })
        .chain((keys) => fc.tuple(...keys.map((key) => orNull(json).map((value) => `${JSON.stringify(key)}:${value}`))))
        .map((pairs) => `{${pairs.join()}}`),
    })),
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map((members) => ({
      type: { kind: 'struct' as const, fields: members.map(({ type }, at) => part(`m${at}`, type)) },
      json: fc
        .tuple(...members.map(({ json }) => orNull(json)))
        .map((values) => `{${values.map((value, at) => `"m${at}":${value}`).join()}}`),
    })),
  ),
})).sample;

/** As a catalog would: every part has an id of its own. */
function numbered(fields: readonly Field[], next: () => number): Field[] {
  return fields.map((field) => ({ ...field, id: next(), type: numberedType(field.type, next) }));
}

function numberedType(type: Type, next: () => number): Type {
  const one = (field: Field): Field => ({ ...field, id: next(), type: numberedType(field.type, next) });
  if (type.kind === 'struct') return { ...type, fields: numbered(type.fields, next) };
  if (type.kind === 'list') return { ...type, element: one(type.element) };
  if (type.kind === 'map') return { ...type, key: one(type.key), value: one(type.value) };
  return type;
}

function schemaWith(fields: readonly Field[]): Schema {
  let id = 0;
  return { id: 0, fields: numbered(fields, () => ++id) };
}

function cellsOf(schema: Schema, row: Json): Cell[] {
  const values = new Map(Object.entries(row ?? {}));
  return schema.fields.map((field) => {
    const cell = toCell(field)(values.get(field.name));
    if (cell instanceof Misfit) throw new Error(cell.because);
    return cell;
  });
}

async function rowsIn(bytes: Uint8Array, schema: Schema): Promise<string[]> {
  const file = {
    content: 'data',
    location: 'a',
    format: 'PARQUET',
    recordCount: 0n,
    size: BigInt(bytes.length),
  } as const;
  const rows: string[] = [];
  const read = async (start: number, end: number) => Buffer.from(bytes.subarray(start, end));
  for await (const some of readDataFile(file, schema, read)) rows.push(...some.map(printJson));
  return rows;
}

test('rows of any schema come out of a file as they went in', async () => {
  const tables = fc.array(samples, { minLength: 1, maxLength: 4 }).chain((columns) =>
    fc.record({
      schema: fc.constant(schemaWith(columns.map(({ type }, at) => part(`c${at}`, type)))),
      rows: fc.array(
        fc
          .tuple(...columns.map(({ json }) => orNull(json)))
          .map((values) => `{${values.map((value, at) => `"c${at}":${value}`).join()}}`),
        { minLength: 1, maxLength: 30 },
      ),
    }),
  );
  await fc.assert(
    fc.asyncProperty(tables, async ({ schema, rows }) => {
      const { bytes, recordCount } = encodeDataFile(
        schema,
        rows.map((row) => cellsOf(schema, parseJson(row) ?? null)),
      );
      expect(recordCount).toBe(BigInt(rows.length));
      expect(await rowsIn(bytes, schema)).toEqual(rows);
    }),
    { numRuns: 200 },
  );
});

test('columns are found by their ids: renamed, widened, reordered, added and dropped ones', async () => {
  const long: Type = { kind: 'long' };
  const inner = (name: string, id: number): Field => ({ id, name, isRequired: false, type: long });
  const written: Schema = {
    id: 0,
    fields: [
      { id: 1, name: 'a', isRequired: false, type: { kind: 'int' } },
      { id: 2, name: 'b', isRequired: false, type: { kind: 'string' } },
      { id: 3, name: 's', isRequired: false, type: { kind: 'struct', fields: [inner('x', 4), inner('y', 5)] } },
    ],
  };
  const read: Schema = {
    id: 1,
    fields: [
      {
        id: 3,
        name: 'struct',
        isRequired: false,
        type: { kind: 'struct', fields: [inner('new', 9), inner('why', 5)] },
      },
      { id: 1, name: 'b', isRequired: false, type: long },
      { id: 10, name: 'a', isRequired: false, type: { kind: 'string' } },
    ],
  };
  const { bytes } = encodeDataFile(written, [cellsOf(written, { a: 1, b: 'gone', s: { x: 2, y: 3 } })]);
  expect(await rowsIn(bytes, read)).toEqual(['{"struct":{"new":null,"why":3},"b":1,"a":null}']);
});

test('a file is read row group by row group, with one request for each', async () => {
  const schema = schemaWith([part('n', { kind: 'long' }), part('text', { kind: 'string' })]);
  const rows = Array.from({ length: 250_000 }, (_, n) => [BigInt(n), `row ${n} ${n * 7919}`]);
  const { bytes } = encodeDataFile(schema, rows);
  const size = BigInt(bytes.length);
  const file = { content: 'data', location: 'a', format: 'PARQUET', recordCount: 0n, size } as const;
  const requests: number[] = [];
  let read = 0;
  const readRange = async (start: number, end: number) => {
    requests.push(read);
    return Buffer.from(bytes.subarray(start, end));
  };
  for await (const some of readDataFile(file, schema, readRange)) {
    expect(some.length).toBeLessThanOrEqual(1_000);
    expect(some[0]).toEqual({ n: read, text: `row ${read} ${read * 7919}` });
    read += some.length;
  }
  // The footer, then a group when all rows of the one before were handed out.
  expect(requests).toEqual([0, 0, 100_000, 200_000]);
  expect(read).toBe(250_000);
});

test('a file that is no Parquet is named', async () => {
  const schema = schemaWith([part('n', { kind: 'long' })]);
  await expect(rowsIn(Buffer.from('neither this nor that'), schema)).rejects.toThrow(/data file a can't be read: /);
});
