import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock } from '../testing/index.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

const never = () => new Promise<never>(() => {});

const later = (clock: VirtualClock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

test('positions of a lost partition are neither committed nor lost', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(10), b: numbers(10) });
  let isStuck = true;
  const source = new MemorySource({ topic, clock, isEndless: true, batchSize: 20 });
  const sink = new MemorySink({ write: () => (isStuck ? never() : []) });
  const rig = new Rig({ clock, source, sink: to(sink, { size: 20 }) });
  await clock.advance(1_000);
  source.revoke('b');
  expect(rig.pipeline.uncommitted).toBe(10);
  rig.stop();
  await rig.toEnd();
  expect(topic.committed.size).toBe(0);

  isStuck = false;
  const next = new MemorySink();
  await new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(next) }).toEnd();
  expect([next.messages.length, topic.isCommitted]).toEqual([20, true]);
});

test('a partition that is lost while its messages are written is left to its next reader', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(10), b: numbers(10) });
  const source = new MemorySource({ topic, clock, isEndless: true, batchSize: 20 });
  const sink = new MemorySink({ write: () => new Promise((resolve) => void clock.after(500, () => resolve([]))) });
  const rig = new Rig({ clock, source, sink: to(sink, { size: 20 }) });
  await clock.advance(100);
  source.revoke('b');
  await clock.advance(5_000);
  expect([...topic.committed]).toEqual([['a', 10]]);
  expect(sink.messages.length).toBe(20);
  rig.stop();
  expect(await rig.toEnd()).toEqual({ because: 'stopped', unfinished: 0 });
});

test.each([
  ['in its buffer, behind a slow write', (clock: VirtualClock) => later(clock, 5_000), 2],
  ['between two attempts', () => Promise.reject(new Error('connection reset')), 0],
] as const)(
  'what of a lost partition waits %s is not written any more: its next reader may be ahead of it',
  async (_, firstWrite, underWay) => {
    const clock = new VirtualClock();
    const topic = new MemoryTopic({ a: numbers(20), b: numbers(20) });
    const source = new MemorySource({ topic, clock, isEndless: true, batchSize: 40 });
    let writes = 0;
    const sink = new MemorySink({ write: () => (writes++ === 0 ? firstWrite(clock) : undefined) });
    // Nine fit, of both in turns: the one that waits for room is of the partition that will be lost.
    const limits = { bufferedMessages: 9 };
    const rig = new Rig({ clock, source, sink: to(sink, { size: 4 }), limits, retry: { firstMs: 10_000 } });
    await clock.advance(1_000);
    source.revoke('b');
    await clock.advance(60_000);
    const written = (name: string) => sink.messages.filter(({ origin }) => origin.partition === name).length;
    expect([written('a'), written('b')]).toEqual([20, underWay]);
    expect([...topic.committed]).toEqual([['a', 20]]);
    expect([rig.pipeline.inFlight, rig.pipeline.uncommitted]).toEqual([0, 0]);
    rig.stop();
    await rig.toEnd();
    expect(clock.pending).toBe(0);
  },
);

test('what was refused of a partition that is lost meanwhile is for its next reader to set aside', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(5), b: numbers(5) });
  const source = new MemorySource({ topic, clock, isEndless: true });
  const sink = new MemorySink({
    write: async (batch) => {
      await later(clock, 5_000);
      return refuse(batch, () => true);
    },
  });
  const errors = new MemorySink();
  const rig = new Rig({
    clock,
    source,
    sink: to(sink, { size: 10 }),
    errors: { ...to(errors), ackPolicy: 'afterWrite' },
  });
  await clock.advance(1_000);
  source.revoke('b');
  await clock.advance(60_000);
  expect(errors.messages.map(({ origin }) => origin.partition)).toEqual(['a', 'a', 'a', 'a', 'a']);
  rig.stop();
  await rig.toEnd();
});

test('a commit that failed is not made up for when its partition has gone and come back meanwhile', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(10) });
  let commits = 0;
  const commit = () => {
    if (++commits === 1) throw new Error('coordinator not available');
  };
  const source = new MemorySource({ topic, clock, isEndless: true, faults: { commit } });
  let isStuck = false;
  const rig = new Rig({ clock, source, sink: to(new MemorySink({ write: () => (isStuck ? never() : []) })) });
  await clock.advance(1_500);
  expect(commits).toBe(1);
  isStuck = true;
  source.revoke('a');
  expect(rig.pipeline.lastProgressAt).toBe(clock.now());
  source.assign('a');
  await clock.advance(5_000);
  expect([commits, topic.committed.size]).toEqual([1, 0]);
  rig.stop();
  await rig.toEnd();
});

test.each(['a', 'b'])(
  'partition %s, lost and back while a batch waits for room, is read again from where it was committed',
  async (name) => {
    const clock = new VirtualClock();
    const topic = new MemoryTopic({ a: numbers(30), b: numbers(30) });
    const source = new MemorySource({ topic, clock, isEndless: true, batchSize: 60 });
    const sink = new MemorySink({ write: () => later(clock, 500) });
    const rig = new Rig({ clock, source, sink: to(sink), limits: { bufferedMessages: 10 } });
    await clock.advance(1_200);
    source.revoke(name);
    source.assign(name);
    await clock.advance(60_000);
    expect([rig.error, topic.isCommitted]).toEqual([undefined, true]);
    const written = sink.messages
      .filter(({ origin }) => origin.partition === name)
      .map(({ origin }) => Number(origin.position));
    expect(new Set(written).size).toBe(30);
    // Back once, to where it was committed, and from there in order: nothing of its first life comes in between.
    expect(written.filter((position, at) => position <= (written[at - 1] ?? -1))).toHaveLength(1);
    rig.stop();
    await rig.toEnd();
  },
);

test('however partitions come and go, everything arrives, and nothing is committed before it is written', async () => {
  const moves = fc.array(fc.record({ afterMs: fc.nat(2_000), partition: fc.constantFrom('a', 'b') }), {
    maxLength: 12,
  });
  const moods = fc.array(fc.constantFrom('ok', 'throw', 'again'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      moves,
      moods,
      fc.nat(700),
      fc.integer({ min: 1, max: 60 }),
      async (moves, moods, writeMs, batchSize) => {
        const clock = new VirtualClock();
        const topic = new MemoryTopic({ a: numbers(40), b: numbers(40) });
        const left = [...moods];
        const sink = new MemorySink({
          write: async (batch) => {
            await later(clock, writeMs);
            const mood = left.shift();
            if (mood === 'throw') throw new Error('connection reset');
            if (mood === 'again') return refuse(batch.slice(0, 2), () => true, true);
          },
        });
        const isDurable = (partition: string, position: number) =>
          sink.messages.some(({ origin }) => origin.partition === partition && origin.position === position);
        const source = new MemorySource({
          topic,
          clock,
          isEndless: true,
          batchSize,
          faults: {
            commit: (origins) => {
              for (const { partition, position } of origins) {
                for (let at = 0; at <= Number(position); at++) expect(isDurable(partition, at)).toBe(true);
              }
            },
          },
        });
        const limits = { bufferedMessages: 10, uncommitted: 25 };
        const rig = new Rig({
          clock,
          source,
          sink: to(sink),
          limits,
          commitIntervalMs: 300,
          retry: { longestMs: 2_000 },
        });
        for (const { afterMs, partition } of moves) {
          await clock.advance(afterMs);
          source.revoke(partition);
          if (afterMs % 2 === 0) await clock.advance(afterMs / 2);
          source.assign(partition);
        }
        await clock.advance(120_000);
        expect([rig.error, topic.isCommitted, rig.pipeline.uncommitted]).toEqual([undefined, true, 0]);
        rig.stop();
        await rig.toEnd();
      },
    ),
  );
});
