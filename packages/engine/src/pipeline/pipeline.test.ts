import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../message.ts';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock } from '../testing/index.ts';

const numbers = (count: number, prefix = '') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

const offsetsOf = (messages: readonly Message[], partition: string) =>
  messages.filter(({ origin }) => origin.partition === partition).map(({ origin }) => origin.position);

const never = () => new Promise<never>(() => {});

test('what is read arrives once, in the order of its partition, and is committed; then it ends by itself and leaves nothing', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(37), b: numbers(12) });
  const source = new MemorySource({ topic, clock });
  const sink = new MemorySink();
  const rig = new Rig({ clock, source, sink: to(sink) });
  expect(await rig.toEnd()).toEqual({ because: 'exhausted', unfinished: 0 });
  expect(offsetsOf(sink.messages, 'a')).toEqual(Array.from({ length: 37 }, (_, i) => i));
  expect(offsetsOf(sink.messages, 'b')).toEqual(Array.from({ length: 12 }, (_, i) => i));
  expect(Math.max(...sink.attempts)).toBe(5);
  expect(topic.isCommitted).toBe(true);
  expect([source.isClosed, sink.isClosed, clock.pending]).toEqual([true, true, 0]);
});

test('a dropped message counts as written, a split one when all its parts are', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['drop', 'split x y z', 'drop', 'split', 'w'] });
  const sink = new MemorySink({
    write: (batch) => (batch.some(({ payload }) => payload?.text === 'z') ? never() : []),
  });
  const rig = new Rig({
    clock,
    source: new MemorySource({ topic, clock, isEndless: true }),
    sink: to(sink, { size: 1 }),
  });
  await clock.advance(5_000);
  expect([sink.texts, topic.committed.get('a')]).toEqual([['x', 'y'], 1]);
  rig.stop();
  expect((await rig.toEnd()).unfinished).toBe(4);
  expect(topic.committed.get('a')).toBe(1);
});

test('what is dropped is committed too, though nothing is ever written', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(25, 'drop') });
  const sink = new MemorySink();
  const rig = new Rig({ clock, source: new MemorySource({ topic, clock, isEndless: true }), sink: to(sink) });
  await clock.advance(1_000);
  expect([topic.isCommitted, sink.attempts]).toEqual([true, []]);
  rig.stop();
  await rig.toEnd();
});

test('each connection that can not be made ends the run with a line that says which', async () => {
  const refused = { connect: () => Promise.reject(new Error('connect ECONNREFUSED')) };
  for (const what of ['source', 'sink', 'error sink']) {
    const clock = new VirtualClock();
    const topic = new MemoryTopic({ a: ['x'] });
    const source = new MemorySource({ topic, clock, faults: what === 'source' ? refused : {} });
    const sink = new MemorySink(what === 'sink' ? refused : {});
    const errors = { ...to(new MemorySink(what === 'error sink' ? refused : {})), ackPolicy: 'afterWrite' as const };
    const rig = new Rig({ clock, source, sink: to(sink), errors });
    await expect(rig.toEnd()).rejects.toThrow(`failed to connect to ${what}: connect ECONNREFUSED`);
    expect([source.isClosed, sink.isClosed, clock.pending, source.handedOut]).toEqual([true, true, 0, 0]);
  }
});

test('a source that fails for good ends the run with its error, after what it had read is written and committed', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(40) });
  let reads = 0;
  const faults = {
    read: () => {
      if (++reads === 3) throw new Error('authorization revoked');
    },
  };
  const sink = new MemorySink();
  const rig = new Rig({ clock, source: new MemorySource({ topic, clock, faults }), sink: to(sink) });
  await expect(rig.toEnd()).rejects.toThrow('failed to read from source: authorization revoked');
  expect([sink.texts, topic.committed.get('a'), clock.pending]).toEqual([numbers(20), 20, 0]);
});

test('commits are coalesced: many writes, few commits', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(1_000), b: numbers(1_000) });
  let commits = 0;
  const source = new MemorySource({ topic, clock, faults: { commit: () => void commits++ } });
  const sink = new MemorySink({ write: () => new Promise((resolve) => void clock.after(10, () => resolve([]))) });
  await new Rig({ clock, source, sink: to(sink) }).toEnd();
  expect(sink.attempts.length).toBe(400);
  expect([topic.isCommitted, commits]).toEqual([true, 4]);
});

test('a commit that fails is tried again and nothing is read twice for it', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(10) });
  let commits = 0;
  const commit = () => {
    if (++commits <= 3) throw new Error('coordinator not available');
  };
  const sink = new MemorySink();
  await new Rig({ clock, source: new MemorySource({ topic, clock, faults: { commit } }), sink: to(sink) }).toEnd();
  expect([sink.texts, topic.isCommitted, commits]).toEqual([numbers(10), true, 4]);
});

test('ackGranularity message: each message is written alone and committed at once', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(6) });
  const committed: unknown[] = [];
  const source = new MemorySource({
    topic,
    clock,
    faults: { commit: (origins) => void committed.push(...origins.map(({ position }) => position)) },
  });
  const sink = new MemorySink({ write: () => new Promise((resolve) => void clock.after(10, () => resolve([]))) });
  await new Rig({ clock, source, sink: to(sink), ackGranularity: 'message' }).toEnd();
  expect(sink.attempts).toEqual([1, 1, 1, 1, 1, 1]);
  expect(committed).toEqual([0, 1, 2, 3, 4, 5]);
  expect(clock.monotonic()).toBe(60);
});

test('ackGranularity message: a commit that fails is tried again after a while, not at once', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(6) });
  let commits = 0;
  const commit = () => {
    if (++commits < 100 && clock.monotonic() < 5_000) throw new Error('coordinator not available');
  };
  const source = new MemorySource({ topic, clock, faults: { commit }, isEndless: true });
  const rig = new Rig({ clock, source, sink: to(new MemorySink()), ackGranularity: 'message' });
  await clock.advance(10_000);
  expect([topic.isCommitted, commits]).toEqual([true, 6]);
  rig.stop();
  await rig.toEnd();
});

test('the error that ended a run is told, not what went wrong after it', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(10) });
  let reads = 0;
  const faults = {
    read: () => (++reads === 2 ? Promise.reject(new Error('authorization revoked')) : undefined),
    commit: () => Promise.reject(new Error('coordinator not available')),
  };
  const rig = new Rig({ clock, source: new MemorySource({ topic, clock, faults }), sink: to(new MemorySink()) });
  await expect(rig.toEnd()).rejects.toThrow('failed to read from source: authorization revoked');
});

test('a sink that comes and goes gets everything, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('throw', 'some', 'ok'), { maxLength: 40 }), async (moods) => {
      const clock = new VirtualClock();
      const topic = new MemoryTopic({ a: numbers(30), b: numbers(30) });
      const left = [...moods];
      const sink = new MemorySink({
        write: (batch) => {
          const mood = left.shift() ?? 'ok';
          if (mood === 'throw') throw new Error('connection reset');
          // Like Kafka, whole partitions fail, so that order is kept.
          return mood === 'ok'
            ? []
            : refuse(batch, () => true, true).filter(({ message }) => message.origin.partition === 'b');
        },
      });
      const rig = new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(sink) });
      await rig.toEnd();
      for (const name of ['a', 'b']) {
        expect(offsetsOf(sink.messages, name)).toEqual(Array.from({ length: 30 }, (_, i) => i));
      }
      expect([topic.isCommitted, clock.pending]).toEqual([true, 0]);
    }),
    { numRuns: 50 },
  );
});

test('memory stays flat against a sink that stands still, and everything goes on after it', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(5_000), b: numbers(5_000) });
  const source = new MemorySource({ topic, clock });
  let isStanding = true;
  const sink = new MemorySink({
    write: async () => {
      if (isStanding) await new Promise<void>((resolve) => void clock.after(60_000, resolve));
      isStanding = false;
    },
  });
  const rig = new Rig({ clock, source, sink: to(sink), limits: { bufferedMessages: 50 } });
  await clock.advance(1_000);
  const { handedOut } = source;
  expect(handedOut).toBeLessThanOrEqual(50 + 10);
  await clock.advance(58_000);
  expect([source.handedOut, rig.pipeline.inFlight]).toEqual([handedOut, 50]);
  expect(rig.pipeline.lastProgressAt).toBeLessThan(clock.now() - 50_000);
  await rig.toEnd();
  expect([sink.messages.length, topic.isCommitted]).toEqual([10_000, true]);
});

test('bytes bound what is in memory, whatever the number of messages', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: Array.from({ length: 100 }, () => 'x'.repeat(1_000)) });
  const sink = new MemorySink({ write: never });
  const rig = new Rig({
    clock,
    source: new MemorySource({ topic, clock, isEndless: true }),
    sink: to(sink, { size: 100 }),
    limits: { bufferedBytes: 10_000 },
  });
  await clock.advance(5_000);
  expect(rig.pipeline.inFlight).toBe(10);
  rig.stop();
  await rig.toEnd();
});

test('a batch that can not fill because its buffer is full does not wait for its time', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: Array.from({ length: 100 }, () => 'x'.repeat(1_000)) });
  const sink = new MemorySink();
  const source = new MemorySource({ topic, clock });
  await new Rig({
    clock,
    source,
    sink: to(sink, { size: 100, flushIntervalMs: 3_600_000 }),
    limits: { bufferedBytes: 10_000 },
  }).toEnd();
  expect([sink.messages.length, clock.monotonic()]).toEqual([100, 0]);
});

test('a batch larger than what may be in memory is written as far as it got: nobody waits for what can not come', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(40) });
  const sink = new MemorySink();
  const limits = { uncommitted: 8 };
  const rig = new Rig({
    clock,
    source: new MemorySource({ topic, clock }),
    sink: to(sink, { size: 100, flushIntervalMs: 0 }),
    limits,
  });
  await rig.toEnd();
  expect([sink.texts, clock.monotonic()]).toEqual([numbers(40), 0]);
});

test('a partial batch goes when its time has come, though the source is silent', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(3) });
  const sink = new MemorySink();
  const source = new MemorySource({ topic, clock, isEndless: true });
  const rig = new Rig({ clock, source, sink: to(sink, { size: 100, flushIntervalMs: 10_000 }) });
  await clock.advance(9_999);
  expect(sink.texts).toEqual([]);
  await clock.advance(1);
  expect(sink.texts).toEqual(['0', '1', '2']);
  rig.stop();
  await rig.toEnd();
});

test('after a silence of hours, what stands still has stood still since it had something to do', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(10) });
  const read = () => new Promise<void>((resolve) => void clock.after(7_200_000, resolve));
  const source = new MemorySource({ topic, clock, faults: { read } });
  const rig = new Rig({ clock, source, sink: to(new MemorySink({ write: never })) });
  await clock.advance(7_201_000);
  expect(rig.pipeline.inFlight).toBe(10);
  expect(clock.now() - rig.pipeline.lastProgressAt).toBe(1_000);
  rig.stop();
  await rig.toEnd();
});

test('commits that are not answered make a pipeline stale, though it writes', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(1_000) });
  const read = () => new Promise<void>((resolve) => void clock.after(1_000, resolve));
  const source = new MemorySource({ topic, clock, isEndless: true, faults: { read, commit: never } });
  const sink = new MemorySink();
  const rig = new Rig({ clock, source, sink: to(sink) });
  await clock.advance(60_000);
  expect(sink.messages.length).toBeGreaterThan(500);
  expect(clock.now() - rig.pipeline.lastProgressAt).toBeGreaterThan(55_000);
  rig.stop();
  await expect(rig.toEnd()).rejects.toThrow('failed to commit: the grace period of 10000 ms is over');
});

test('it is ready while it reads; with nothing to do it is never stale', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(3) });
  const connect = () => new Promise<void>((resolve) => void clock.after(1_000, resolve));
  const sink = new MemorySink({ connect });
  const rig = new Rig({ clock, source: new MemorySource({ topic, clock, isEndless: true }), sink: to(sink) });
  await clock.advance(999);
  expect(rig.pipeline.isReady).toBe(false);
  await clock.advance(1);
  expect(rig.pipeline.isReady).toBe(true);
  await clock.advance(7_200_000);
  expect(rig.pipeline.lastProgressAt).toBe(clock.now());
  rig.stop();
  await rig.toEnd();
  expect(rig.pipeline.isReady).toBe(false);
});
