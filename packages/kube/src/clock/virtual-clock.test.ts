import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

const plan = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 20 }), isCancelled: fc.boolean() }), { maxLength: 60 });

test('timers fire in the order of their times, then of their making; those that were cancelled do not', async () => {
  await fc.assert(
    fc.asyncProperty(plan, fc.integer({ min: 0, max: 25 }), async (timers, until) => {
      const clock = new VirtualClock();
      const fired: number[] = [];
      const made = timers.map(({ ms }, order) => clock.after(ms, () => fired.push(order)));
      for (const [order, { isCancelled }] of timers.entries()) if (isCancelled) made[order]?.cancel();
      await clock.advance(until);
      const due = [...timers.entries()].filter(([, { ms, isCancelled }]) => !isCancelled && ms <= until);
      // Sorting is stable: equal times stay in the order of their making.
      expect(fired).toEqual(due.toSorted(([, a], [, b]) => a.ms - b.ms).map(([order]) => order));
      expect(clock.pending).toBe(timers.filter(({ ms, isCancelled }) => !isCancelled && ms > until).length);
      expect(clock.monotonic()).toBe(until);
    }),
  );
});

test('what a timer sets off runs before the next one fires, and may cancel it', async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  clock.after(1, () => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => second.cancel())
      .then(() => seen.push('first'));
  });
  const second = clock.after(1, () => seen.push('second'));
  clock.after(1, () => seen.push('third'));
  await clock.advance(1);
  expect(seen).toEqual(['first', 'third']);
});

test('deadlines that are cancelled by the thousand leave what waits as it was', async () => {
  const clock = new VirtualClock();
  const fired: number[] = [];
  for (let i = 0; i < 100; i++) clock.after(100 - i, () => fired.push(100 - i));
  for (let i = 0; i < 10_000; i++) clock.after(1_000 + i, () => fired.push(-1)).cancel();
  expect(clock.pending).toBe(100);
  await clock.advance(20_000);
  expect(fired).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
});

test('who waits for the rest of a deadline gets there, whatever the fractions', async () => {
  const parts = fc.array(fc.double({ min: 0, max: 1_000, noNaN: true }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(parts, fc.double({ min: 1, max: 100_000, noNaN: true }), async (before, deadline) => {
      const clock = new VirtualClock();
      for (const ms of before) await clock.advance(ms);
      const start = clock.monotonic();
      let looks = 0;
      const look = () => {
        looks++;
        const left = deadline - (clock.monotonic() - start);
        if (left > 0 && looks < 10) clock.after(left, look);
      };
      look();
      await clock.advance(deadline);
      expect(looks).toBeLessThanOrEqual(2);
    }),
  );
});
