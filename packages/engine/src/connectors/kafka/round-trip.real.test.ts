import { Admin, consumerFetchesChannel, type MessageToProduce, Producer } from '@platformatic/kafka';
import { describe, expect, inject, test } from 'vitest';
import { committed, createTopic, produceRaw, readAll } from '../../../../../tools/kafka/topics.ts';
import { connectedSink, connectedSource, isMessage, lastOf, message, numbered, take } from './fixture.ts';
import { partitionOfKey } from './partitioning.ts';

const { plaintext: broker } = inject('kafka');

describe('a topic copied by source and sink', () => {
  test('has the same keys, values and headers, whatever their bytes', async ({ signal }) => {
    const from = await createTopic(broker, 1);
    const to = await createTopic(broker, 3);
    const binary = Buffer.from([0xff, 0x00, 0xfe, 0x80]);
    const headers = new Map([
      [Buffer.from('text'), Buffer.from('größe')],
      [Buffer.from('binary'), binary],
      [Buffer.from('twice'), Buffer.from('first')],
      [Buffer.from('twice'), Buffer.from('second')],
      [Buffer.from('__proto__'), Buffer.from('kept')],
      [Buffer.from('empty'), Buffer.alloc(0)],
    ]);
    const records: Omit<MessageToProduce, 'topic'>[] = [
      { key: Buffer.from('text key'), value: Buffer.from('{"a": 1.0}'), headers },
      { value: Buffer.from('without a key') },
      { key: Buffer.alloc(0), value: Buffer.from('with an empty key') },
      { key: binary, value: binary },
      { key: Buffer.from('a tombstone') },
      { key: Buffer.from('empty'), value: Buffer.alloc(0) },
    ];
    await produceRaw(
      broker,
      records.map((record) => ({ ...record, topic: from })),
    );

    const source = await connectedSource({ brokers: [broker], topic: from, consumerGroup: from }, signal);
    const inputs = (await take(source, records.length, signal)).filter(isMessage);
    expect(inputs[0]?.metadata).toMatchObject({ topic: from, partition: 0, offset: 0, key: 'text key' });
    expect(inputs[0]?.metadata['timestamp']).toMatch(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/);
    expect(inputs.map(({ metadata }) => metadata['key'] === null)).toEqual([false, true, false, false, false, false]);
    expect(inputs.map(({ payload }) => payload === null)).toEqual([false, false, false, false, true, false]);
    const sink = await connectedSink(broker, to, signal);
    expect(await sink.write(inputs, signal)).toEqual([]);
    await Promise.all([source.close(), sink.close()]);

    const originals = await readAll(broker, from);
    const copies = await readAll(broker, to);
    const shown = ({ key, value, headers }: (typeof copies)[number]) =>
      JSON.stringify([
        key?.toString('hex') ?? null,
        value?.toString('hex') ?? null,
        headers.map(([name, text]) => [name.toString(), text?.toString('hex') ?? null]),
      ]);
    expect(copies.map(shown).toSorted()).toEqual(originals.map(shown).toSorted());
    expect(originals.filter(({ headers }) => headers.length > 0)).toHaveLength(1);
  });

  test('keeps the order of each key, in the partition that Kafka itself would choose', async ({ signal }) => {
    const topic = await createTopic(broker, 6);
    const sink = await connectedSink(broker, topic, signal);
    for (let from = 0; from < 10_000; from += 1_000) {
      expect(await sink.write(numbered(from, 1_000, 37), signal)).toEqual([]);
    }
    await sink.close();
    const records = await readAll(broker, topic);
    expect(records).toHaveLength(10_000);
    const last = new Map<string, number>();
    for (const { key, value, partition } of records) {
      const name = String(key);
      expect(partition).toBe(partitionOfKey(Buffer.from(name), 6));
      expect(Number(value)).toBeGreaterThan(last.get(name) ?? -1);
      last.set(name, Number(value));
    }
  });
});

describe('the sink', () => {
  test('fails a message that is too large alone, and writes all others in order', async ({ signal }) => {
    const topic = await createTopic(broker, 1, { 'max.message.bytes': '20000' });
    const sink = await connectedSink(broker, topic, signal);
    const random = Buffer.from(Array.from({ length: 40_000 }, () => Math.floor(Math.random() * 256))).toString(
      'base64',
    );
    const batch = numbered(0, 300, 5);
    batch.splice(100, 0, message(random, 1_000, { key: 'key-0' }));
    batch.splice(200, 0, message(random, 1_001));
    const failures = await sink.write(batch, signal);
    await sink.close();
    expect(failures).toMatchObject([
      { message: { origin: { sequence: 1_000 } }, type: 'invalid_data', isRetryable: false },
      { message: { origin: { sequence: 1_001 } }, type: 'invalid_data', isRetryable: false },
    ]);
    expect(failures[0]?.because).toMatch(/too large.*max\.message\.bytes/);
    expect((await readAll(broker, topic)).map(({ value }) => Number(value))).toEqual(
      numbered(0, 300, 5).map((_, i) => i),
    );
  });

  test('fails a message without a key alone, where the topic is compacted', async ({ signal }) => {
    const topic = await createTopic(broker, 1, { 'cleanup.policy': 'compact' });
    const sink = await connectedSink(broker, topic, signal);
    const failures = await sink.write([...numbered(0, 20, 5), message('no key', 99), ...numbered(20, 20, 5)], signal);
    await sink.close();
    expect(failures).toMatchObject([{ message: { origin: { sequence: 99 } }, isRetryable: false }]);
    expect((await readAll(broker, topic)).map(({ value }) => Number(value))).toEqual(
      numbered(0, 40, 5).map((_, i) => i),
    );
  });

  test('is closed when what it was writing is written', async ({ signal }) => {
    const topic = await createTopic(broker, 2);
    const sink = await connectedSink(broker, topic, signal);
    const writing = sink.write(numbered(0, 5_000, 50), signal);
    await sink.close();
    expect(await writing).toEqual([]);
    expect(await readAll(broker, topic)).toHaveLength(5_000);
  });

  test('keeps the order also after a write that was given up on', async ({ signal }) => {
    const topic = await createTopic(broker, 1);
    const sink = await connectedSink(broker, topic, signal);
    const giveUp = new AbortController();
    const first = sink.write(numbered(0, 5_000, 1), giveUp.signal);
    const second = sink.write(numbered(5_000, 10, 1), signal);
    giveUp.abort(new Error('no patience'));
    await expect(first).rejects.toThrow('no patience');
    expect(await second).toEqual([]);
    await sink.close();
    const values = (await readAll(broker, topic)).map(({ value }) => Number(value));
    expect(values.slice(-10)).toEqual(Array.from({ length: 10 }, (_, i) => 5_000 + i));
    expect(values).toEqual(values.toSorted((a, b) => a - b));
  });

  test('makes a topic that is not there, where the brokers allow it', async ({ signal }) => {
    const topic = `${await createTopic(broker, 1)}-made`;
    const sink = await connectedSink(broker, topic, signal);
    expect(await sink.write(numbered(0, 3, 1), signal)).toEqual([]);
    await sink.close();
    expect(await readAll(broker, topic)).toHaveLength(3);
  });
});

describe('the source', () => {
  test('asks the brokers for nothing before somebody asks it', async ({ signal }) => {
    const topic = await createTopic(broker, 2);
    const sink = await connectedSink(broker, topic, signal);
    await sink.write(numbered(0, 1_000, 40), signal);
    const source = await connectedSource({ brokers: [broker], topic, consumerGroup: topic }, signal);
    let fetches = 0;
    const count = () => void fetches++;
    consumerFetchesChannel.start.subscribe(count);
    const reader = source.read(signal, { revoked() {} })[Symbol.asyncIterator]();
    const first = await reader.next();
    const before = fetches;
    // Far longer than a fetch takes.
    for (let i = 0; i < 20; i++) await sink.write(numbered(1_000 + i * 100, 100, 40), signal);
    expect(fetches).toBe(before);
    let seen = first.value?.length ?? 0;
    while (seen < 3_000) seen += (await reader.next()).value?.length ?? 0;
    expect(fetches).toBeGreaterThan(before);
    consumerFetchesChannel.start.unsubscribe(count);
    await Promise.all([reader.return?.(), source.close(), sink.close()]);
  });

  test('reads on with the oldest message that is left, where retention was faster', async ({ signal }) => {
    const topic = await createTopic(broker, 1);
    const config = { brokers: [broker], topic, consumerGroup: topic };
    const sink = await connectedSink(broker, topic, signal);
    await sink.write(numbered(0, 100, 1), signal);
    const first = await connectedSource(config, signal);
    await first.commit(lastOf((await take(first, 100, signal)).slice(0, 10)));
    await first.close();
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker] });
    await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 60n }] }] });
    await admin.close();
    const second = await connectedSource(config, signal);
    const rest = (await take(second, 40, signal)).filter(isMessage);
    await Promise.all([second.close(), sink.close()]);
    expect(rest.map(({ payload }) => Number(payload?.text))).toEqual(Array.from({ length: 40 }, (_, i) => 60 + i));
  });

  test('leaves out what belongs to transactions that were aborted', async ({ signal }) => {
    const topic = await createTopic(broker, 1);
    const producer = new Producer({
      clientId: 'test',
      bootstrapBrokers: [broker],
      idempotent: true,
      transactionalId: topic,
      producerId: -1n,
      producerEpoch: -1,
    });
    for (const [value, isKept] of [
      ['one', true],
      ['two', false],
      ['three', false],
      ['four', true],
    ] as const) {
      const transaction = await producer.beginTransaction();
      await transaction.send({ messages: [{ topic, value: Buffer.from(value) }] });
      await (isKept ? transaction.commit() : transaction.abort());
    }
    await producer.close();
    const source = await connectedSource({ brokers: [broker], topic, consumerGroup: topic }, signal);
    const inputs = (await take(source, 2, signal)).filter(isMessage);
    await source.close();
    expect(inputs.map(({ payload }) => payload?.text)).toEqual(['one', 'four']);
  });

  test('goes on where the group has committed, and commits what it was told and no more', async ({ signal }) => {
    const topic = await createTopic(broker, 2);
    const sink = await connectedSink(broker, topic, signal);
    await sink.write(numbered(0, 1_000, 40), signal);
    await sink.close();
    const config = { brokers: [broker], topic, consumerGroup: topic };
    const first = await connectedSource(config, signal);
    const inputs = (await take(first, 1_000, signal)).filter(isMessage);
    const done = inputs.filter(({ metadata }) => Number(metadata['offset']) < 100);
    await first.commit(lastOf(done));
    await first.close();
    expect(await committed(broker, topic, topic, 2)).toEqual([100, 100]);

    const second = await connectedSource(config, signal);
    const rest = (await take(second, 800, signal)).filter(isMessage);
    await second.close();
    expect(new Set([...done, ...rest].map(({ payload }) => payload?.text))).toHaveProperty('size', 1_000);
    expect(Math.min(...rest.map(({ metadata }) => Number(metadata['offset'])))).toBe(100);
    expect(rest.filter(({ origin }) => origin.sequence === 0)).toHaveLength(2);
  });
});
