import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createTopic, lagOf, produceRaw } from '../../../../tools/kafka/topics.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres/start.ts';
import { asked, counted, startProcessor, stopped } from '../processors.ts';
import { type Started, Workplace } from '../program.ts';

/** Of 1 KB each: far more than a processor may hold. */
const COUNT = 300_000;
const STOPPED_MS = 60_000;
const PATIENCE = { timeout: 120_000, interval: 50 };

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

async function memoryOf(processor: Started): Promise<number> {
  const { text } = await asked(processor, '/metrics');
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]);
}

/** The most that it holds until `isOver`. */
async function peak(processor: Started, isOver: () => Promise<boolean>): Promise<number> {
  let most = 0;
  while (!(await isOver())) {
    most = Math.max(most, await memoryOf(processor));
    await sleep(100);
  }
  return most;
}

test('a sink that stops for a minute costs neither memory nor messages', { timeout: 300_000 }, async () => {
  await postgres.sql('CREATE TABLE numbers (n bigint PRIMARY KEY, text text)');
  const topic = await createTopic(broker, 4);
  const text = 'x'.repeat(1_000);
  for (let at = 0; at < COUNT; at += 500) {
    const some = Array.from({ length: 500 }, (_, i) => at + i);
    await produceRaw(
      broker,
      some.map((n) => ({ topic, key: Buffer.from(String(n)), value: Buffer.from(JSON.stringify({ n, text })) })),
    );
  }
  const sink = { connectionString: postgres.url, table: 'numbers', batchSize: 500, batchFlushIntervalSeconds: 1 };
  const processor = startProcessor(place, {
    source: { type: 'kafka', config: { brokers: [broker], topic, consumerGroup: topic } },
    sink: { type: 'postgresql', config: { ...sink, upsertMode: true } },
  });
  await processor.says(/partitions assigned/);
  const written = () => counted(processor, 'dataflow_messages_sent_total');
  const before = await peak(processor, async () => (await written()) > COUNT / 3);

  // Nobody may write to it, as with a server that hangs: there is no error, and no answer.
  await postgres.sql('BEGIN; LOCK TABLE numbers IN SHARE MODE');
  const stoppedAt = performance.now();
  const during = await peak(processor, async () => performance.now() - stoppedAt > STOPPED_MS);
  expect((await asked(processor, '/readyz')).status).toBe(200);
  const stuckAt = await written();
  await postgres.sql('COMMIT');

  console.log(`peak ${before >> 20} MB before, ${during >> 20} MB during`);
  expect(during).toBeLessThan(before * 1.5);
  expect(stuckAt).toBeLessThan(COUNT);
  await expect.poll(() => lagOf(broker, topic, topic), PATIENCE).toBe(0);
  expect(await stopped(processor)).toBe(0);
  expect(await postgres.sql('SELECT count(*)::int FROM numbers')).toEqual([{ count: COUNT }]);
});
