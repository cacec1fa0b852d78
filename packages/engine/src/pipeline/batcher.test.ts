import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../message.ts';
import { Payload } from '../payload.ts';
import { Batcher, LONGEST_WAIT_MS } from './batcher.ts';

const message = (sequence: number): Message => ({
  payload: Payload.ofText(String(sequence)),
  metadata: {},
  origin: { partition: 'p', sequence, position: sequence, readAt: 0 },
});

const NO_LIMIT = Number.POSITIVE_INFINITY;

function filled(batching: { size: number; bytes?: number; flushIntervalMs: number }, count: number, each = 1): Batcher {
  const batcher = new Batcher({ bytes: NO_LIMIT, ...batching });
  for (let i = 0; i < count; i++) batcher.push(message(i), each, 100);
  return batcher;
}

test('a full batch is due at once, a partial one when its first message has waited long enough', () => {
  expect(filled({ size: 3, flushIntervalMs: 10_000 }, 3).dueAt).toBe(100);
  expect(filled({ size: 3, flushIntervalMs: 10_000 }, 2).dueAt).toBe(10_100);
  expect(filled({ size: 3, flushIntervalMs: 10_000 }, 0).dueAt).toBeUndefined();
});

test('size 0: only time fills a batch', () => {
  expect(filled({ size: 0, flushIntervalMs: 10_000 }, 1_000).dueAt).toBe(10_100);
  expect(filled({ size: 0, flushIntervalMs: 10_000 }, 1_000).take(200).messages).toHaveLength(1_000);
});

test('interval 0: only size fills a batch, yet a partial one does not wait for ever', () => {
  expect(filled({ size: 3, flushIntervalMs: 0 }, 2).dueAt).toBe(100 + LONGEST_WAIT_MS);
});

test('neither size nor interval: what is there goes', () => {
  expect(filled({ size: 0, flushIntervalMs: 0 }, 2).dueAt).toBe(100);
});

test('bytes fill a batch too, and a message beyond the limit travels alone', () => {
  expect(filled({ size: 100, bytes: 10, flushIntervalMs: 10_000 }, 3, 4).dueAt).toBe(100);
  expect(filled({ size: 100, bytes: 10, flushIntervalMs: 10_000 }, 3, 4).take(200).messages).toHaveLength(2);
  expect(filled({ size: 100, bytes: 10, flushIntervalMs: 10_000 }, 3, 50).take(200).messages).toHaveLength(1);
});

test('a flush makes due what waits, not what comes after', () => {
  const batcher = filled({ size: 10, flushIntervalMs: 10_000 }, 2);
  batcher.flush();
  expect(batcher.dueAt).toBe(100);
  batcher.take(200);
  batcher.push(message(2), 1, 300);
  expect(batcher.dueAt).toBe(10_300);
});

test('whatever the limits, every message comes out once, in order, in batches within them', () => {
  const batching = fc.record({ size: fc.nat(5), bytes: fc.integer({ min: 1, max: 30 }), flushIntervalMs: fc.nat(3) });
  const step = fc.oneof(fc.record({ bytes: fc.nat(40) }), fc.constantFrom('take' as const, 'discard' as const));
  const steps = fc.array(step, { maxLength: 200 });
  fc.assert(
    fc.property(batching, steps, (batching, steps) => {
      const batcher = new Batcher(batching);
      const sizes: number[] = [];
      const out: number[] = [];
      const gone = new Set<number>();
      const take = () => {
        const { messages, bytes } = batcher.take(0);
        const taken = messages.map(({ origin }) => origin.sequence);
        if (batching.size > 0) expect(taken.length).toBeLessThanOrEqual(batching.size);
        if (taken.length > 1) expect(bytes).toBeLessThanOrEqual(batching.bytes);
        expect(bytes).toBe(taken.reduce((sum, sequence) => sum + (sizes[sequence] ?? 0), 0));
        out.push(...taken);
      };
      for (const step of steps) {
        if (step === 'take') take();
        else if (step === 'discard') {
          const before = batcher.size;
          const seen: number[] = [];
          const { messages, bytes } = batcher.discard(
            ({ origin }) => origin.sequence % 3 === 0 && !!seen.push(origin.sequence),
          );
          expect([messages, before - batcher.size]).toEqual([seen.length, seen.length]);
          expect(bytes).toBe(seen.reduce((sum, sequence) => sum + (sizes[sequence] ?? 0), 0));
          for (const sequence of seen) gone.add(sequence);
        } else batcher.push(message(sizes.push(step.bytes) - 1), step.bytes, 0);
      }
      while (batcher.size > 0) take();
      expect(out).toEqual(sizes.map((_, at) => at).filter((at) => !gone.has(at)));
      expect(batcher.isFull).toBe(false);
    }),
  );
});
