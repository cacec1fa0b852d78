import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Failure, Message } from '../message.ts';
import { Payload } from '../payload.ts';
import { MemorySink, refuse, type SinkFaults, VirtualClock } from '../testing/index.ts';
import { pauseAfter } from '../waiting.ts';
import { MAIN } from './events.ts';
import type { Retry } from './retry.ts';
import { Writer, type WriterOptions } from './writer.ts';

const RETRY: Retry = { firstMs: 100, longestMs: 1_000, budgetMs: 10_000 };

const message = (sequence: number): Message => ({
  payload: Payload.ofText(String(sequence)),
  metadata: {},
  origin: { partition: 'p', sequence, position: sequence, readAt: 0 },
});

function writing(faults: SinkFaults, options: Partial<WriterOptions> = {}) {
  const clock = new VirtualClock();
  const sink = new MemorySink(faults);
  const written: number[] = [];
  const lost: Failure[] = [];
  const stop = new AbortController();
  const logged: string[] = [];
  const line = (fields: object, message: string) => void logged.push(`${JSON.stringify(fields)} ${message}`);
  const writer = new Writer({
    sink,
    outlet: MAIN,
    isConnected: false,
    batching: { size: 3, bytes: 1_000, flushIntervalMs: 50 },
    capacity: { messages: 10, bytes: 1_000 },
    retry: RETRY,
    clock,
    random: () => 1,
    log: { debug: line, info: line, warn: line, error: line },
    on: {},
    written: (messages) => void written.push(...messages.map(({ origin }) => origin.sequence)),
    gaveUp: async (failures) => void lost.push(...failures),
    ...options,
  });
  const state = { isOver: false };
  void writer.run(stop.signal).then(() => (state.isOver = true));
  return { clock, sink, writer, written, lost, stop, logged, state };
}

test('pauses double up to the longest, and half of each is chance', () => {
  const pauses = (random: number) => [1, 2, 3, 4, 5, 6].map((n) => pauseAfter(n, RETRY, () => random));
  expect(pauses(1)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(pauses(0)).toEqual([50, 100, 200, 400, 500, 500]);
});

test('one batch at a time, in order: the next one waits for the last attempt of the one before', async () => {
  let under = 0;
  let left = 4;
  const { clock, writer, written } = writing({
    write: async () => {
      expect(++under).toBe(1);
      await new Promise<void>((resolve) => void clock.after(10, resolve));
      under--;
      if (left-- > 0) throw new Error('connection reset');
    },
  });
  for (let i = 0; i < 8; i++) writer.push(message(i), 1);
  await clock.advance(60_000);
  expect(written).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('of a batch that failed in part only what failed is tried again, or given up', async () => {
  const batches: string[][] = [];
  const { clock, writer, written, lost } = writing({
    write: (batch) => {
      batches.push(batch.map(({ payload }) => payload?.text ?? ''));
      return batches.length === 1 ? [...refuse(batch, (t) => t === '0'), ...refuse(batch, (t) => t === '1', true)] : [];
    },
  });
  for (let i = 0; i < 3; i++) writer.push(message(i), 1);
  await clock.advance(1_000);
  expect(batches).toEqual([['0', '1', '2'], ['1']]);
  expect([written, lost.map(({ message }) => message.origin.sequence)]).toEqual([[2, 1], [0]]);
});

test('without a budget it tries for ever, and the log names the trouble each time but no payload', async () => {
  const { clock, writer, lost, sink, logged } = writing({
    write: () => Promise.reject(Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' })),
  });
  writer.push(message(4711), 1);
  await clock.advance(60_000);
  expect([lost, sink.attempts.length]).toEqual([[], 63]);
  expect(logged[0]).toBe(
    '{"outlet":"default","messages":1,"type":"connection_error","error":"connect refused","attempt":1,"retryInMs":100} could not write; trying again',
  );
  expect(logged.join()).not.toContain('4711');
});

test('with a budget it gives up when that is spent, and says what the last attempt said', async () => {
  const { clock, writer, lost, state } = writing(
    { write: () => Promise.reject(new Error('busy')) },
    { budget: 'batch' },
  );
  writer.push(message(0), 1);
  writer.end();
  await clock.advance(9_999);
  expect(lost).toEqual([]);
  await clock.advance(1);
  expect(lost.map(({ because }) => because)).toEqual(['busy']);
  expect([state.isOver, clock.pending]).toEqual([true, 0]);
});

test('of a sink that does part of its work, only the other part is given up when the budget of an outage is spent', async () => {
  const isBroken = (text: string) => Number(text) % 3 === 0;
  const { clock, writer, written, lost, sink } = writing(
    { write: (batch) => refuse(batch, isBroken, true) },
    { budget: 'outage', capacity: { messages: 100, bytes: 1_000 } },
  );
  for (let i = 0; i < 30; i++) writer.push(message(i), 1);
  await clock.advance(11_000);
  expect(written).toEqual(Array.from({ length: 30 }, (_, i) => i).filter((i) => !isBroken(String(i))));
  expect(lost.map(({ message }) => message.origin.sequence)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
  // The first batch spent the budget; each of the others got its one attempt.
  expect(sink.attempts.filter((size) => size === 3)).toHaveLength(10);
});

test('a stop ends it at once, in whatever it is doing, and what is not written is told to nobody', async () => {
  const never = () => new Promise<never>(() => {});
  for (const faults of [{}, { connect: never }, { write: never }, { write: () => Promise.reject(new Error('busy')) }]) {
    const { clock, writer, written, lost, stop, state } = writing(faults, { budget: 'batch' });
    if ('write' in faults || 'connect' in faults) writer.push(message(0), 1);
    await clock.advance(170);
    stop.abort();
    await clock.advance(0);
    expect([state.isOver, written, lost, clock.pending]).toEqual([true, [], [], 0]);
  }
});

test('there is room again as soon as a batch is done', async () => {
  const { clock, writer } = writing({
    write: () => new Promise((resolve) => void clock.after(1_000, () => resolve([]))),
  });
  for (let i = 0; i < 10; i++) writer.push(message(i), 1);
  expect(writer.hasRoom).toBe(false);
  let hasRoom = false;
  void writer.room(new AbortController().signal).then(() => (hasRoom = true));
  await clock.advance(999);
  expect(hasRoom).toBe(false);
  await clock.advance(1);
  expect([hasRoom, writer.size]).toEqual([true, 7]);
});

test('whatever a sink answers, each message ends once: written, or given up', async () => {
  const mood = fc.constantFrom('ok', 'throw', 'refuse', 'again', 'slow');
  await fc.assert(
    fc.asyncProperty(fc.array(mood, { maxLength: 30 }), fc.integer({ min: 1, max: 30 }), async (moods, count) => {
      const left = [...moods];
      const { clock, writer, written, lost, state } = writing(
        {
          write: async (batch) => {
            const mood = left.shift();
            if (mood === 'throw') throw new Error('connection reset');
            if (mood === 'slow') await new Promise<void>((resolve) => void clock.after(3_000, resolve));
            if (mood === 'refuse' || mood === 'again') return refuse(batch.slice(0, 1), () => true, mood === 'again');
          },
        },
        { budget: 'batch' },
      );
      for (let i = 0; i < count; i++) {
        if (!writer.hasRoom) await clock.runUntil(() => writer.hasRoom, 1_000_000);
        writer.push(message(i), 1);
      }
      writer.end();
      await clock.advance(1_000_000);
      const ended = [...written, ...lost.map(({ message }) => message.origin.sequence)];
      expect(ended.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      expect([state.isOver, writer.size, clock.pending]).toEqual([true, 0, 0]);
    }),
  );
});
