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

let registry: Server;
let url = '';
const asked: string[] = [];
/** So many requests are answered with 503 first. */
let busy = 2;

beforeAll(async () => {
  registry = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    if (busy-- > 0) return void response.writeHead(503).end();
    if (request.url !== '/schemas/ids/7') return void response.writeHead(404).end('{"error_code":40403}');
    response.end(JSON.stringify({ schema: JSON.stringify(order) }));
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
