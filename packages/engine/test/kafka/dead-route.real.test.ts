/** A route whose database is down, between a real Kafka and a real PostgreSQL: what it costs the others. */
import { connect, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { freePorts } from '../../../../tools/free-ports.ts';
import { committed, createTopic, lagOf, produceRaw, readAll } from '../../../../tools/kafka/topics.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres/start.ts';
import { clock, memoryLog } from '../../src/connectors/kafka/fixture.ts';
import { KafkaSink, KafkaSource } from '../../src/connectors/kafka/index.ts';
import { PostgresSink } from '../../src/connectors/postgresql/index.ts';
import { Pipeline, type PipelineOptions } from '../../src/pipeline/index.ts';
import { compileTransforms } from '../../src/transforms/index.ts';

const COUNT = 5_000;
/** Every tenth goes to the database that is down. */
const EVERY = 10;
const CONDITION = "to == 'elsewhere'";
const BATCHING = { size: 10, bytes: 1 << 20, flushIntervalMs: 100 };
const PATIENCE = { timeout: 60_000, interval: 50 };

const { plaintext: broker } = inject('kafka');
let postgres: PostgresServer;
let port: number;
let source: string;
let proxy: Server | undefined;
let stop: AbortController;

beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());
beforeEach(async () => {
  [port = 0] = await freePorts(1);
  source = await createTopic(broker, 1);
  stop = new AbortController();
  await postgres.sql('CREATE TABLE here (n bigint); CREATE TABLE elsewhere (n bigint)');
  const all = Array.from({ length: COUNT }, (_, n) => ({ n, to: n % EVERY === 0 ? 'elsewhere' : 'here' }));
  await produceRaw(
    broker,
    all.map((one) => ({ topic: source, value: Buffer.from(JSON.stringify(one)) })),
  );
});
afterEach(async () => {
  stop.abort();
  proxy?.close();
  await postgres.sql('DROP TABLE here, elsewhere');
});

/** From now on the other database is reached. */
async function bringUp(): Promise<void> {
  const { port: real } = new URL(postgres.url);
  proxy = createServer((inner) => {
    const outer = connect(Number(real), '127.0.0.1');
    inner.on('error', () => outer.destroy()).pipe(outer);
    outer.on('error', () => inner.destroy()).pipe(inner);
  });
  await new Promise<void>((resolve) => proxy?.listen(port, '127.0.0.1', resolve));
}

function pipelineWith(more: Partial<PipelineOptions>): Pipeline {
  const log = memoryLog();
  const table = (connectionString: string, name: string) => ({
    type: 'postgresql',
    sink: new PostgresSink({ connectionString, table: name }, log),
    batching: BATCHING,
  });
  const config = { brokers: [broker], topic: source, consumerGroup: source };
  return new Pipeline({
    source: new KafkaSource({ config, clock, random: Math.random, log }),
    transformations: compileTransforms([{ type: 'router', config: { routes: [{ condition: CONDITION }] } }], clock),
    sink: table(postgres.url, 'here'),
    routes: new Map([[CONDITION, table(`postgres://postgres@127.0.0.1:${port}/postgres`, 'elsewhere')]]),
    limits: { bufferedMessages: 100 },
    retry: { firstMs: 100, longestMs: 500, budgetMs: 2_000 },
    graceMs: 10_000,
    clock,
    random: Math.random,
    log,
    ...more,
  });
}

const numbersIn = async (table: string) =>
  (await postgres.sql(`SELECT n::int FROM ${table} ORDER BY n`)).map(({ n }) => Number(n));
const numbers = (isElsewhere: boolean) =>
  Array.from({ length: COUNT }, (_, n) => n).filter((n) => (n % EVERY === 0) === isElsewhere);

test('holds the others up for its retry budget once, and what it could not write is in the error sink', async () => {
  const failed = await createTopic(broker, 1);
  const errors = {
    type: 'kafka',
    sink: new KafkaSink({ config: { brokers: [broker], topic: failed } }),
    batching: BATCHING,
    ackPolicy: 'afterWrite' as const,
  };
  // Five hundred messages in fifty batches: a budget for each would take longer than anybody waits here.
  const running = pipelineWith({ errors }).run(stop.signal);
  await expect.poll(() => lagOf(broker, source, source), PATIENCE).toBe(0);
  stop.abort();
  expect(await running).toEqual({ because: 'stopped', unfinished: 0 });
  expect(await numbersIn('here')).toEqual(numbers(false));
  const records = (await readAll(broker, failed)).map(({ value }) => {
    const record: { error: { message: string }; original_message: { n: number } } = JSON.parse(String(value));
    return record;
  });
  expect(records.map(({ original_message: { n } }) => n).toSorted((a, b) => a - b)).toEqual(numbers(true));
  for (const { error } of records) expect(error.message).toMatch(/ECONNREFUSED|retry budget/);
});

test('without an error sink everything waits for it, and nothing is lost', async () => {
  const running = pipelineWith({}).run(stop.signal);
  await expect.poll(async () => (await numbersIn('here')).length, PATIENCE).toBeGreaterThan(500);
  // The very first message is one of those that wait.
  expect(await committed(broker, source, source, 1)).toEqual([-1]);
  expect((await numbersIn('here')).length).toBeLessThan(COUNT / 2);
  await bringUp();
  await expect.poll(() => lagOf(broker, source, source), PATIENCE).toBe(0);
  stop.abort();
  expect(await running).toEqual({ because: 'stopped', unfinished: 0 });
  expect(await numbersIn('here')).toEqual(numbers(false));
  expect(await numbersIn('elsewhere')).toEqual(numbers(true));
});
