import { createServer, type Server } from 'node:http';
import avro from 'avsc';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createTopic, produceRaw } from '../../../../../tools/kafka/topics.ts';
import { connectedSource, isMessage, take } from './fixture.ts';

const { plaintext: broker, saslSsl } = inject('kafka');

const order: avro.Schema = {
  type: 'record',
  name: 'Order',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'note', type: ['null', 'string'], default: null },
    { name: 'lines', type: ['null', { type: 'array', items: 'string' }], default: null },
  ],
};

const money: avro.Schema = {
  type: 'record',
  name: 'shop.Money',
  fields: [
    { name: 'amount', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } },
    { name: 'currency', type: 'shop.Currency' },
  ],
};
const currency: avro.Schema = { type: 'enum', name: 'shop.Currency', symbols: ['EUR', 'USD'] };
const payment: avro.Schema = {
  type: 'record',
  name: 'shop.Payment',
  fields: [
    { name: 'of', type: 'int' },
    { name: 'price', type: ['null', 'shop.Money'] },
  ],
};

/** As a registry has them: those that others refer to by their subject and version. */
const REGISTERED: Readonly<Record<string, { schema: avro.Schema; references?: readonly object[] }>> = {
  '/schemas/ids/7': { schema: order },
  '/schemas/ids/11': { schema: payment, references: [{ name: 'shop.Money', subject: 'money', version: 2 }] },
  '/subjects/money/versions/2': {
    schema: money,
    references: [{ name: 'shop.Currency', subject: 'currency', version: 1 }],
  },
  '/subjects/currency/versions/1': { schema: currency },
};

let registry: Server;
let url = '';
const asked: string[] = [];
/** So many requests are answered with 503 first. */
let busy = 2;

beforeAll(async () => {
  registry = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    if (busy-- > 0) return void response.writeHead(503).end();
    const registered = REGISTERED[request.url ?? ''];
    if (!registered) return void response.writeHead(404).end('{"error_code":40403}');
    const { schema, references } = registered;
    response.end(JSON.stringify({ schema: JSON.stringify(schema), ...(references && { references }) }));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const address = registry.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
});

afterAll(() => new Promise((resolve) => registry.close(resolve)));

const frame = (id: number, body: Buffer) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(id, 1);
  return Buffer.concat([head, body]);
};

test('Avro comes as JSON; what can’t be decoded comes as a failure with its bytes; the registry is asked once', async ({
  signal,
}) => {
  const long = avro.types.LongType['__with']({
    fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes;
    },
    fromJSON: BigInt,
    toJSON: Number,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: () => 0,
  });
  const type = avro.Type.forSchema(order, { registry: { long }, wrapUnions: 'always' });
  const encoded = type.toBuffer({ id: 9_007_199_254_740_993n, note: { string: 'x' }, lines: { array: ['a', 'b'] } });
  const broken = frame(7, Buffer.from([1, 2, 3]));
  const topic = await createTopic(broker, 1);
  const values = [frame(7, encoded), broken, frame(8, encoded), encoded, undefined, frame(7, encoded)];
  await produceRaw(
    broker,
    values.map((value) => ({ topic, ...(value && { value }) })),
  );
  const schemaRegistry = { url, basicAuth: { username: 'u', password: 'p' } };
  const avroSchema = JSON.stringify(order);
  const source = await connectedSource(
    { brokers: [broker], topic, consumerGroup: topic, format: 'avro', schemaRegistry, avroSchema },
    signal,
  );
  const inputs = await take(source, values.length, signal);
  await source.close();

  const text = '{"id":9007199254740993,"note":"x","lines":["a","b"]}';
  const shown = inputs.map((input) => (isMessage(input) ? (input.payload?.text ?? null) : input.because));
  expect(shown).toEqual([
    text,
    expect.stringMatching(/^the value is not Avro of its schema/),
    'the schema registry does not know schema 8',
    text,
    null,
    text,
  ]);
  expect(inputs[1]).toMatchObject({ type: 'invalid_data', isRetryable: false });
  const failed = inputs[1];
  expect(failed && !isMessage(failed) && failed.message.payload?.bytes.equals(broken)).toBe(true);
  const basic = `Basic ${Buffer.from('u:p').toString('base64')}`;
  expect(asked).toEqual([7, 7, 7, 8].map((id) => `/schemas/ids/${id} ${basic}`));
});

test('schemas that refer to others are read with them, beside values that do not name their schema', async ({
  signal,
}) => {
  asked.length = 0;
  const known = {};
  for (const schema of [currency, money]) avro.Type.forSchema(schema, { registry: known, wrapUnions: 'always' });
  const type = avro.Type.forSchema(payment, { registry: known, wrapUnions: 'always' });
  const price = { 'shop.Money': { amount: Buffer.from([0x04, 0xce]), currency: 'USD' } };
  const own: avro.Schema = { type: 'record', name: 'Own', fields: [{ name: 'own', type: 'string' }] };
  const topic = await createTopic(broker, 1);
  const values = [
    frame(11, type.toBuffer({ of: 1, price })),
    avro.Type.forSchema(own).toBuffer({ own: 'x' }),
    frame(11, type.toBuffer({ of: 2, price: null })),
  ];
  await produceRaw(
    broker,
    values.map((value) => ({ topic, value })),
  );
  const source = await connectedSource(
    {
      brokers: [broker],
      topic,
      consumerGroup: topic,
      format: 'avro',
      schemaRegistry: { url },
      avroSchema: JSON.stringify(own),
    },
    signal,
  );
  const inputs = await take(source, values.length, signal);
  await source.close();
  expect(inputs.map((input) => isMessage(input) && input.payload?.text)).toEqual([
    '{"of":1,"price":{"amount":12.30,"currency":"USD"}}',
    '{"own":"x"}',
    '{"of":2,"price":null}',
  ]);
  expect(asked.map((request) => request.split(' ')[0])).toEqual([
    '/schemas/ids/11',
    '/subjects/money/versions/2',
    '/subjects/currency/versions/1',
  ]);
});

test('a registry whose certificate nobody knows is not believed', async ({ signal }) => {
  const topic = await createTopic(broker, 1);
  await produceRaw(broker, [{ topic, value: frame(7, Buffer.from([0])) }]);
  // The broker itself: what it serves there has a certificate of its own authority.
  const schemaRegistry = { url: `https://${saslSsl}` };
  const source = await connectedSource(
    { brokers: [broker], topic, consumerGroup: topic, format: 'avro', schemaRegistry },
    signal,
  );
  await expect(take(source, 1, signal)).rejects.toThrow(/certificate/);
  await source.close();
});
