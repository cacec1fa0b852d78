/** Messages that nobody can handle, among many that are fine: all of them, and nothing else, are in the error sink. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createTopic, lagOf, produceRaw, type RawRecord, readAll } from '../../../../tools/kafka/topics.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres/start.ts';
import { startProcessor, stopped } from '../processors.ts';
import { Workplace } from '../program.ts';

const COUNT = 20_000;
const PARTITIONS = 3;
/** Every hundredth is broken, each in the next way. */
const EVERY = 100;
/** In what is sent, and therefore not in the log. */
const MARK = 'm4rked';
const PATIENCE = { timeout: 90_000, interval: 100 };

const { plaintext: broker } = inject('kafka');
let postgres: PostgresServer;
let place: Workplace;
let source: string;
let errors: string;

beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());
beforeEach(async () => {
  place = new Workplace();
  source = await createTopic(broker, PARTITIONS);
  errors = await createTopic(broker, 1);
});
afterEach(async () => {
  await place[Symbol.asyncDispose]();
  await postgres.sql('DROP TABLE IF EXISTS orders, failed');
});

const order = (n: number, more: object = {}) => JSON.stringify({ n, amount: '12', total: 5, name: MARK, ...more });

type Breakage = (n: number) => { readonly value: Buffer; readonly because: RegExp };

/** Sends `COUNT` orders, and resolves with why each broken one can't be handled, by its number. */
async function send(breakages: readonly Breakage[], sound: (n: number) => Buffer): Promise<Map<number, RegExp>> {
  const broken = new Map<number, RegExp>();
  const values = Array.from({ length: COUNT }, (_, n) => {
    const breakage = n % EVERY === 50 ? breakages[Math.floor(n / EVERY) % breakages.length]?.(n) : undefined;
    if (breakage) broken.set(n, breakage.because);
    return breakage?.value ?? sound(n);
  });
  for (let at = 0; at < COUNT; at += 1_000) {
    const some = values.slice(at, at + 1_000);
    await produceRaw(
      broker,
      some.map((value, i) => ({ topic: source, key: Buffer.from(String(at + i)), value })),
    );
  }
  return broken;
}

const from = (config: object = {}) => ({
  type: 'kafka',
  config: { brokers: [broker], topic: source, consumerGroup: source, ...config },
});
const topic = (name: string) => ({ type: 'kafka', config: { brokers: [broker], topic: name } });
const orders = () => ({
  type: 'postgresql',
  config: { connectionString: postgres.url, table: 'orders', batchSize: 500, batchFlushIntervalSeconds: 1 },
});

/** Runs the flow until it has committed everything. */
async function run(spec: object): Promise<void> {
  const processor = startProcessor(place, spec, { env: { LOG_LEVEL: 'debug' } });
  await expect.poll(() => lagOf(broker, source, source), PATIENCE).toBe(0);
  expect(await stopped(processor)).toBe(0);
  expect(processor.said.out + processor.said.err).not.toContain(MARK);
}

interface ErrorRecord {
  readonly error: {
    readonly message: string;
    readonly timestamp: string;
    readonly original_sink: string;
    readonly metadata: { readonly topic: string; readonly key: string };
  };
  readonly original_message: Readonly<Record<string, unknown>>;
}

function recordOf({ value }: Pick<RawRecord, 'value'>): ErrorRecord {
  return JSON.parse(String(value));
}

/** All and only those that are broken, each once, with its own reason. */
function expectBroken(records: readonly ErrorRecord[], broken: ReadonlyMap<number, RegExp>, sink: string): void {
  const numbers = records.map(({ error }) => Number(error.metadata.key)).toSorted((a, b) => a - b);
  expect(numbers).toEqual([...broken.keys()]);
  for (const { error } of records) {
    expect(error.message).toMatch(broken.get(Number(error.metadata.key)) ?? /^$/);
    expect(error).toMatchObject({ original_sink: sink, metadata: { topic: source } });
    expect(new Date(error.timestamp).toISOString()).toBe(error.timestamp);
  }
}

async function expectOrdersWithout(broken: ReadonlyMap<number, RegExp>): Promise<void> {
  const stored = (await postgres.sql('SELECT n::int FROM orders ORDER BY n')).map(({ n }) => Number(n));
  expect(stored).toEqual(Array.from({ length: COUNT }, (_, n) => n).filter((n) => !broken.has(n)));
}

test('what can not be read, transformed or stored is set aside with the reason, and the rest is stored', async () => {
  await postgres.sql(
    'CREATE TABLE orders (n bigint, amount int, total numeric CHECK (total < 100), name varchar(10), seen text)',
  );
  const latin1 = (n: number) => Buffer.from(order(n, { name: 'caf\u00e9' }), 'latin1');
  const broken = await send(
    [
      (n) => ({ value: Buffer.from(`order ${n} ${MARK}`), because: /no JSON/ }),
      (n) => ({ value: latin1(n), because: /no JSON/ }),
      (n) => ({ value: Buffer.from(order(n, { total: MARK })), because: /invalid input syntax for type numeric/ }),
      (n) => ({ value: Buffer.from(order(n, { total: 100 })), because: /violates check constraint/ }),
      (n) => ({ value: Buffer.from(order(n, { amount: MARK })), because: /amount/ }),
      (n) => ({ value: Buffer.from(order(n, { name: `${MARK}-${MARK}` })), because: /value too long/ }),
      () => ({ value: Buffer.from('[1, 2]'), because: /no JSON object/ }),
    ],
    (n) => Buffer.from(order(n)),
  );
  await run({
    source: from(),
    transformations: [
      { type: 'cast', config: { spec: { amount: 'int64' } } },
      { type: 'timestamp', config: { fieldName: 'seen' } },
    ],
    sink: orders(),
    errors: topic(errors),
  });
  await expectOrdersWithout(broken);
  const records = (await readAll(broker, errors)).map(recordOf);
  expectBroken(records, broken, 'postgresql');
  const originalOf = (n: number) =>
    records.find(({ error }) => error.metadata.key === String(n))?.original_message ?? {};
  expect(originalOf(50)).toEqual({ original_data: `order 50 ${MARK}` });
  // Byte for byte: it can be sent again.
  expect(originalOf(150)['original_data_base64']).toBe(latin1(150).toString('base64'));
  expect(originalOf(250)).toMatchObject({ n: 250, amount: 12, total: MARK, name: MARK });
  // As it was before the transformation that failed.
  expect(originalOf(450)).toEqual({ n: 450, amount: MARK, total: 5, name: MARK });
  expect(originalOf(650)).toEqual({ original_data: '[1, 2]' });
});

test('what is no Avro is set aside, and the rest is stored', async () => {
  await postgres.sql('CREATE TABLE orders (n bigint)');
  const avroSchema = JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'n', type: 'long' }] });
  const broken = await send(
    [
      () => ({ value: Buffer.from([0x80]), because: /./ }),
      () => ({ value: Buffer.alloc(0), because: /./ }),
      () => ({ value: Buffer.from([2, 2, 2, 2, 2]), because: /./ }),
    ],
    zigzag,
  );
  await run({ source: from({ format: 'avro', avroSchema }), sink: orders(), errors: topic(errors) });
  await expectOrdersWithout(broken);
  const records = (await readAll(broker, errors)).map(recordOf);
  expectBroken(records, broken, 'postgresql');
  // As it came, and not what could be made of it.
  const first = records.find(({ error }) => error.metadata.key === '50');
  expect(first?.original_message['original_data_base64']).toBe(Buffer.from([0x80]).toString('base64'));
});

test('what is too large for its topic is set aside, and the rest is written', async () => {
  const target = await createTopic(broker, PARTITIONS, { 'max.message.bytes': '10000' });
  const broken = await send(
    [
      (n) => ({
        // It can't be compressed into what is allowed.
        value: Buffer.from(order(n, { name: randomBytes(20_000).toString('base64') })),
        because: /too large for the topic/,
      }),
    ],
    (n) => Buffer.from(order(n)),
  );
  const failed = {
    type: 'postgresql',
    config: { connectionString: postgres.url, table: 'failed', rawMode: true, autoCreateTable: true, batchSize: 10 },
  };
  await run({ source: from(), sink: topic(target), errors: failed });
  const written = (await readAll(broker, target)).map(({ key }) => Number(key));
  expect(written.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: COUNT }, (_, n) => n).filter((n) => !broken.has(n)),
  );
  const stored = await postgres.sql('SELECT data::text FROM failed');
  expectBroken(
    stored.map(({ data }) => recordOf({ value: Buffer.from(String(data)) })),
    broken,
    'kafka',
  );
});

/** A `long` of Avro. */
function zigzag(n: number): Buffer {
  const bytes: number[] = [];
  let left = n * 2;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}
