import type avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AvroDecoder, type AvroDecoderOptions } from './decoder.ts';
import type { Lookup } from './schema-registry.ts';
import { parseSchema } from './types.ts';

const { signal } = new AbortController();

/** Encodes with the same schema, then decodes. */
function decoded(schema: avro.Schema, value: unknown): string {
  const text = JSON.stringify(schema);
  const answer = new AvroDecoder({ schema: text }).decode(parseSchema(text).toBuffer(value), signal);
  if (answer instanceof Promise || !answer.ok) throw new Error('it could not be decoded');
  return answer.text;
}

const record = (type: avro.Schema): avro.Schema => ({ type: 'record', name: 'R', fields: [{ name: 'a', type }] });

describe('Avro as JSON', () => {
  test.for<[string, avro.Schema, unknown, string]>([
    ['a long beyond 2^53', 'long', 9_223_372_036_854_775_807n, '9223372036854775807'],
    ['a long as Debezium writes it', { type: 'long' }, 9_007_199_254_740_993n, '9007199254740993'],
    ['a long of a logical type nobody knows', { type: 'long', logicalType: 'id' }, 2n ** 60n, '1152921504606846976'],
    ['a negative long', 'long', -9_007_199_254_740_993n, '-9007199254740993'],
    ['a float in its own digits', 'float', 0.1, '0.1'],
    ['a double', 'double', 0.1, '0.1'],
    ['what is no number', 'double', Number.NaN, '"NaN"'],
    ['an infinite float', 'float', Number.NEGATIVE_INFINITY, '"-Infinity"'],
    ['bytes', 'bytes', Buffer.from([0, 255]), '"AP8="'],
    ['text with quotes', 'string', 'say "ä"\n', '"say \\"ä\\"\\n"'],
    ['nothing', 'null', null, 'null'],
    ['a union with nothing', ['null', 'string'], null, 'null'],
    ['a union', ['null', 'string'], { string: 'x' }, '"x"'],
    ['a union of what looks alike', ['int', 'long'], { long: 5n }, '5'],
    ['a union with an array', ['null', { type: 'array', items: 'int' }], { array: [1, 2] }, '[1,2]'],
    ['a map', { type: 'map', values: ['null', 'int'] }, { a: { int: 1 }, b: null }, '{"a":1,"b":null}'],
    ['an enum', { type: 'enum', name: 'E', symbols: ['UP', 'DOWN'] }, 'DOWN', '"DOWN"'],
    [
      'a decimal',
      { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 },
      Buffer.from([0x04, 0xce]),
      '12.30',
    ],
    [
      'a negative decimal',
      { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 3 },
      Buffer.from([0xff]),
      '-0.001',
    ],
    ['a date', { type: 'int', logicalType: 'date' }, 20_484, '"2026-01-31"'],
    ['a date before 1970', { type: 'int', logicalType: 'date' }, -1, '"1969-12-31"'],
    ['a time of day', { type: 'int', logicalType: 'time-millis' }, 49_500_123, '"13:45:00.123"'],
    ['microseconds of the day', { type: 'long', logicalType: 'time-micros' }, 49_500_123_456n, '"13:45:00.123456"'],
    [
      'a timestamp',
      { type: 'long', logicalType: 'timestamp-millis' },
      1_769_867_100_123n,
      '"2026-01-31T13:45:00.123Z"',
    ],
    [
      'microseconds',
      { type: 'long', logicalType: 'timestamp-micros' },
      1_769_867_100_123_456n,
      '"2026-01-31T13:45:00.123456Z"',
    ],
    ['a moment before 1970', { type: 'long', logicalType: 'timestamp-micros' }, -1n, '"1969-12-31T23:59:59.999999Z"'],
    [
      'a local timestamp',
      { type: 'long', logicalType: 'local-timestamp-millis' },
      1_769_867_100_123n,
      '"2026-01-31T13:45:00.123"',
    ],
    ['a logical type on a type it is not for', { type: 'string', logicalType: 'date' }, 'x', '"x"'],
    ['a logical type nobody knows', { type: 'int', logicalType: 'shoe-size' }, 43, '43'],
  ])('%s', ([, type, value, text]) => {
    expect(decoded(record(type), { a: value })).toBe(`{"a":${text}}`);
  });

  test('a union whose branch is a record, and a record in itself', () => {
    const tree: avro.Schema = {
      type: 'record',
      name: 'Tree',
      fields: [
        { name: 'v', type: 'int' },
        { name: 'left', type: ['null', 'Tree'] },
      ],
    };
    expect(decoded(tree, { v: 1, left: { Tree: { v: 2, left: null } } })).toBe('{"v":1,"left":{"v":2,"left":null}}');
  });

  test('a record with one field that is called like a type stays a record', () => {
    const inner: avro.Schema = { type: 'record', name: 'I', fields: [{ name: 'array', type: 'int' }] };
    expect(decoded(record(inner), { a: { array: 1 } })).toBe('{"a":{"array":1}}');
  });
});

test('any float is printed with digits that mean the same float', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const [, text] = /^\{"a":(.*)\}$/.exec(decoded(record('float'), { a: value })) ?? [];
      expect(Math.fround(Number(text))).toBe(value === 0 ? 0 : value);
    }),
  );
});

describe('which schema', () => {
  const own = '{"type":"record","name":"R","fields":[{"name":"own","type":"string"}]}';
  const other = '{"type":"record","name":"R","fields":[{"name":"other","type":"string"}]}';
  const value = Buffer.from([2, 0x78]);
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, 9]), value]);
  const asked: number[] = [];
  const registry = {
    lookUp(id: number): Promise<Lookup> {
      asked.push(id);
      return Promise.resolve(
        id === 9 ? { found: true, schema: other, references: [] } : { found: false, because: `there is no ${id}` },
      );
    },
  };
  const decode = async (options: AvroDecoderOptions, bytes: Buffer) => new AvroDecoder(options).decode(bytes, signal);

  test('in a frame it is the one of the registry, else the one of the configuration', async () => {
    expect(await decode({ schema: own, registry }, framed)).toEqual({ ok: true, text: '{"other":"x"}' });
    expect(await decode({ schema: own, registry }, value)).toEqual({ ok: true, text: '{"own":"x"}' });
    expect(await decode({ schema: own }, framed)).toEqual({ ok: true, text: '{"own":"x"}' });
    expect(await decode({ registry }, value)).toMatchObject({
      ok: false,
      because: expect.stringContaining('none is configured'),
    });
  });

  test('it is asked for once, also if there is none', async () => {
    const decoder = new AvroDecoder({ registry });
    asked.length = 0;
    const unknown = Buffer.from([0, 0, 0, 0, 8, 0]);
    for (const bytes of [framed, framed, unknown, unknown]) await decoder.decode(bytes, signal);
    expect(asked).toEqual([9, 8]);
  });

  test('it may name types of other schemas, which name others in turn', async () => {
    const field = (name: string, type: avro.Schema) => ({ name, type });
    const record = (name: string, ...fields: ReturnType<typeof field>[]) =>
      JSON.stringify({ type: 'record', name, namespace: 'shop', fields });
    const money = record('Money', field('cents', 'long'), field('currency', 'shop.Currency'));
    const currency = JSON.stringify({ type: 'enum', name: 'Currency', namespace: 'shop', symbols: ['EUR', 'USD'] });
    const schema = record('Order', field('total', 'Money'), field('paid', ['null', 'shop.Money']));
    const lookUp = () => Promise.resolve<Lookup>({ found: true, schema, references: [currency, money] });
    const bytes = parseSchema(schema, [currency, money]).toBuffer({
      total: { cents: 9_007_199_254_740_993n, currency: 'USD' },
      paid: { 'shop.Money': { cents: 1n, currency: 'EUR' } },
    });
    expect(await decode({ registry: { lookUp } }, Buffer.concat([framed.subarray(0, 5), bytes]))).toEqual({
      ok: true,
      text: '{"total":{"cents":9007199254740993,"currency":"USD"},"paid":{"cents":1,"currency":"EUR"}}',
    });
  });

  test('bytes that are no Avro of it are an answer, whatever they are', () => {
    const decoder = new AvroDecoder({ schema: own });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
        const answer = decoder.decode(Buffer.from(bytes), signal);
        expect(answer).toHaveProperty('ok');
      }),
    );
    expect(decoder.decode(Buffer.from([2, 0x78, 0]), signal)).toMatchObject({ ok: false });
  });

  test('a schema that is none is refused at once', () => {
    expect(() => new AvroDecoder({ schema: '{"type":"nothing"}' })).toThrow('unknown type');
  });
});
