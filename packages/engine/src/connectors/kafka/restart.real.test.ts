import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Kafka, startKafka } from '../../../../../tools/kafka/start.ts';
import { createTopic, readAll } from '../../../../../tools/kafka/topics.ts';
import type { Message, Origin } from '../../message.ts';
import { connectedSink, connectedSource, isMessage, lastOf, numbered } from './fixture.ts';

let kafka: Kafka;

beforeAll(async () => {
  kafka = await startKafka({ dir: mkdtempSync(join(tmpdir(), 'polder-kafka-')) });
});

afterAll(async () => {
  await kafka.stop();
});

test('a broker that dies while it is read and written costs time, no message, and no order', {
  timeout: 180_000,
}, async ({ signal }) => {
  const COUNT = 60_000;
  const { plaintext: broker } = kafka.addresses;
  const from = await createTopic(broker, 4);
  const to = await createTopic(broker, 4);
  const sink = await connectedSink(broker, from, signal);
  const source = await connectedSource({ brokers: [broker], topic: from, consumerGroup: from }, signal);
  const copier = await connectedSink(broker, to, signal);

  /** As a pipeline does: what may be tried again is, in order. */
  const write = async (into: typeof sink, messages: readonly Message[]) => {
    for (let left = messages; left.length > 0; ) {
      const failures = await into.write(left, signal);
      expect(failures.filter(({ isRetryable }) => !isRetryable)).toEqual([]);
      left = failures.map(({ message }) => message);
    }
  };
  /** So it does with commits, which fail where a broker stays away. */
  const commit = (origins: readonly Origin[]): Promise<void> => source.commit(origins).catch(() => commit(origins));
  let written = 0;
  const writing = (async () => {
    for (; written < COUNT; written += 500) await write(sink, numbered(written, 500, 100));
  })();
  const seen = new Set<string>();
  const reading = (async () => {
    for await (const batch of source.read(signal, { revoked() {} })) {
      const inputs = batch.filter(isMessage);
      await write(copier, inputs);
      await commit(lastOf(inputs));
      for (const { payload } of inputs) seen.add(payload?.text ?? '');
      if (seen.size === COUNT) return;
    }
  })();
  for (const share of [0.2, 0.6]) {
    while (seen.size < COUNT * share) await new Promise((resolve) => setTimeout(resolve, 5));
    await kafka.kill();
    await kafka.restart();
  }
  await Promise.all([writing, reading]);
  await Promise.all([source.close(), sink.close(), copier.close()]);

  const values = (await readAll(broker, to)).map(({ key, value, partition }) => ({
    key,
    value: Number(value),
    partition,
  }));
  expect(new Set(values.map(({ value }) => value)).size).toBe(COUNT);
  // A batch may come twice, but the first time each number comes, all smaller ones of its key have been there.
  const last = new Map<string, number>();
  const firsts = new Set<number>();
  for (const { key, value } of values) {
    if (firsts.has(value)) continue;
    firsts.add(value);
    expect(value).toBeGreaterThan(last.get(String(key)) ?? -1);
    last.set(String(key), value);
  }
});
