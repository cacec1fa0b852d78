import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createTopic, lagOf, produceRaw } from '../../../../tools/kafka/topics.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres/start.ts';
import { partitionsOf, startProcessor, stopped } from '../processors.ts';
import { Workplace } from '../program.ts';

const COUNT = 60_000;
const PARTITIONS = 4;
const PATIENCE = { timeout: 90_000, interval: 50 };

const { plaintext: broker } = inject('kafka');
let postgres: PostgresServer;
let place: Workplace;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place[Symbol.asyncDispose]());

test('replicas share the partitions; one that is told to stop hands over without losing or repeating anything', async () => {
  await postgres.sql('CREATE TABLE numbers (n bigint, writer int DEFAULT pg_backend_pid())');
  const topic = await createTopic(broker, PARTITIONS);
  const sink = { connectionString: postgres.url, table: 'numbers', batchSize: 200, batchFlushIntervalSeconds: 1 };
  const spec = {
    source: { type: 'kafka', config: { brokers: [broker], topic, consumerGroup: topic } },
    sink: { type: 'postgresql', config: sink },
  };
  const replicas = ['a', 'b'].map((name) => startProcessor(place, spec, { name }));
  const [first, second] = replicas;
  if (!first || !second) throw new Error('there are two');
  await expect.poll(() => replicas.map(partitionsOf), PATIENCE).toEqual([2, 2]);

  const sending = (async () => {
    for (let at = 0; at < COUNT; at += 1_000) {
      const some = Array.from({ length: 1_000 }, (_, i) => at + i);
      await produceRaw(
        broker,
        some.map((n) => ({ topic, key: Buffer.from(String(n)), value: Buffer.from(`{"n":${n}}`) })),
      );
    }
  })();
  const writers = async () => (await postgres.sql('SELECT DISTINCT writer FROM numbers')).length;
  await expect.poll(writers, PATIENCE).toBe(2);
  expect(await stopped(first)).toBe(0);
  await expect.poll(() => partitionsOf(second), PATIENCE).toBe(PARTITIONS);
  await sending;
  await expect.poll(() => lagOf(broker, topic, topic), PATIENCE).toBe(0);
  expect(await stopped(second)).toBe(0);
  expect(await postgres.sql('SELECT count(*)::int, count(DISTINCT n)::int AS different FROM numbers')).toEqual([
    { count: COUNT, different: COUNT },
  ]);
});
