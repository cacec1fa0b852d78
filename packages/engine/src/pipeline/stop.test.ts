import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  MemorySink,
  MemorySource,
  MemoryTopic,
  Rig,
  type RigOptions,
  refuse,
  to,
  VirtualClock,
} from '../testing/index.ts';

const GRACE_MS = 10_000;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

const never = () => new Promise<never>(() => {});

const later = (clock: VirtualClock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

test('a stop finishes what is in flight, partial batches too, commits, and reads no more', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(1_000) });
  const source = new MemorySource({ topic, clock, isEndless: true, faults: { read: () => later(clock, 100) } });
  const sink = new MemorySink({ write: () => later(clock, 250) });
  const rig = new Rig({ clock, source, sink: to(sink, { size: 7, flushIntervalMs: 3_600_000 }) });
  await clock.advance(1_050);
  const { handedOut } = source;
  rig.stop();
  expect(await rig.toEnd()).toEqual({ because: 'stopped', unfinished: 0 });
  expect(source.handedOut).toBe(handedOut);
  expect(handedOut).toBe(100);
  expect(sink.texts).toEqual(numbers(100));
  expect([topic.committed.get('a'), clock.pending]).toEqual([100, 0]);
  expect(clock.monotonic()).toBeLessThan(1_050 + 15 * 250);
});

test('a stop while the reading waits for room leaves the rest of the batch to the next run', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(100) });
  const source = new MemorySource({ topic, clock, batchSize: 100 });
  const sink = new MemorySink({ write: () => later(clock, 1_000) });
  const rig = new Rig({ clock, source, sink: to(sink), limits: { bufferedMessages: 10 } });
  await clock.advance(500);
  rig.stop();
  expect(await rig.toEnd()).toEqual({ because: 'stopped', unfinished: 0 });
  expect([sink.texts, topic.committed.get('a')]).toEqual([numbers(10), 10]);
});

test('who does not answer when asked to stop is left behind when the grace period is over', async () => {
  const deaf: Record<string, (clock: VirtualClock, topic: MemoryTopic) => Pick<RigOptions, 'source' | 'sink'>> = {
    'connect of the source': (clock, topic) => ({
      source: new MemorySource({ topic, clock, faults: { connect: never } }),
      sink: to(new MemorySink()),
    }),
    'connect of the sink': (clock, topic) => ({
      source: new MemorySource({ topic, clock }),
      sink: to(new MemorySink({ connect: never })),
    }),
    read: (clock, topic) => ({
      source: new MemorySource({ topic, clock, faults: { read: never } }),
      sink: to(new MemorySink()),
    }),
    write: (clock, topic) => ({
      source: new MemorySource({ topic, clock }),
      sink: to(new MemorySink({ write: never })),
    }),
    retries: (clock, topic) => ({
      source: new MemorySource({ topic, clock }),
      sink: to(new MemorySink({ write: () => Promise.reject(new Error('connection reset')) })),
    }),
    commit: (clock, topic) => ({
      source: new MemorySource({ topic, clock, isEndless: true, faults: { commit: never } }),
      sink: to(new MemorySink()),
    }),
    'close of the source': (clock, topic) => ({
      source: new MemorySource({ topic, clock, isEndless: true, faults: { close: never } }),
      sink: to(new MemorySink()),
    }),
    'close of the sink': (clock, topic) => ({
      source: new MemorySource({ topic, clock, isEndless: true }),
      sink: to(new MemorySink({ close: never })),
    }),
  };
  for (const [what, parts] of Object.entries(deaf)) {
    const clock = new VirtualClock();
    const topic = new MemoryTopic({ a: numbers(3) });
    const rig = new Rig({ clock, ...parts(clock, topic), graceMs: GRACE_MS });
    await clock.advance(5_000);
    rig.stop();
    await clock.advance(GRACE_MS);
    expect([what, rig.isOver, clock.pending]).toEqual([what, true, 0]);
  }
});

test('a commit that is not answered at the end is an error: what was written will be written again', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(3) });
  const source = new MemorySource({ topic, clock, faults: { commit: () => Promise.reject(new Error('fenced')) } });
  const rig = new Rig({ clock, source, sink: to(new MemorySink()), graceMs: GRACE_MS });
  await expect(rig.toEnd()).rejects.toThrow('failed to commit: ');
  expect(clock.pending).toBe(0);
});

test('what was written when the grace period ran out is still committed', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(20) });
  const sink = new MemorySink({ write: () => later(clock, 3_000) });
  const source = new MemorySource({ topic, clock });
  const rig = new Rig({ clock, source, sink: to(sink), graceMs: GRACE_MS, commitIntervalMs: 60_000 });
  await clock.advance(100);
  rig.stop();
  // 8 of the 10 seconds are for writing: two batches of five.
  expect(await rig.toEnd()).toEqual({ because: 'stopped', unfinished: 10 });
  expect([sink.texts, topic.committed.get('a')]).toEqual([numbers(10), 10]);
});

test('a stop before it has begun connects nothing', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: numbers(3) });
  const sink = new MemorySink();
  const rig = new Rig({
    clock,
    source: new MemorySource({ topic, clock, faults: { connect: never } }),
    sink: to(sink),
  });
  rig.stop();
  expect((await rig.toEnd()).because).toBe('stopped');
  expect([sink.isConnected, clock.pending]).toEqual([false, 0]);
});

test('whenever the stop comes and whatever fails, it ends in time, leaves no timer, and commits nothing unwritten', async () => {
  const moods = fc.array(fc.constantFrom('ok', 'slow', 'throw', 'refuse', 'again', 'never'), { maxLength: 15 });
  await fc.assert(
    fc.asyncProperty(
      moods,
      moods,
      moods,
      fc.nat(40_000),
      fc.boolean(),
      async (main, route, reads, stopAt, hasErrors) => {
        const clock = new VirtualClock();
        const words = Array.from(
          { length: 90 },
          (_, i) => ['plain', 'drop', 'split a b', 'break', 'route eu'][i % 5] ?? '',
        );
        const topic = new MemoryTopic({ a: words, b: words.toReversed() });
        const act = async (mood: string | undefined) => {
          if (mood === 'slow') await later(clock, 700);
          if (mood === 'throw') throw new Error('connection reset');
          if (mood === 'never') await never();
        };
        const sinkOf = (left: string[]) =>
          new MemorySink({
            write: async (batch) => {
              const mood = left.shift();
              await act(mood);
              if (mood === 'refuse' || mood === 'again') return refuse(batch.slice(0, 1), () => true, mood === 'again');
            },
          });
        const [sink, eu, errors] = [sinkOf([...main]), sinkOf([...route]), sinkOf([...route].toReversed())];
        const left = [...reads];
        const rig = new Rig({
          clock,
          source: new MemorySource({ topic, clock, isEndless: true, faults: { read: () => act(left.shift()) } }),
          sink: to(sink),
          routes: new Map([['eu', to(eu)]]),
          ...(hasErrors && { errors: { ...to(errors), ackPolicy: 'afterWrite' as const } }),
          limits: { bufferedMessages: 12, uncommitted: 40 },
          retry: { budgetMs: 5_000 },
          graceMs: GRACE_MS,
        });
        await clock.advance(stopAt);
        rig.stop();
        await clock.advance(GRACE_MS);
        expect([rig.isOver, clock.pending]).toEqual([true, 0]);
        const durable = [...sink.messages, ...eu.messages, ...errors.messages];
        for (const [partition, records] of topic.partitions) {
          for (const [position, { text }] of records.slice(0, topic.committed.get(partition) ?? 0).entries()) {
            if (text === 'drop' || (text === 'break' && !hasErrors)) continue;
            const found = durable.filter(
              ({ origin }) => origin.partition === partition && origin.position === position,
            );
            expect([partition, position, found.length]).toEqual([partition, position, text === 'split a b' ? 2 : 1]);
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});
