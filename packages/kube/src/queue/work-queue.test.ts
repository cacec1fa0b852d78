import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../clock/index.ts';
import { BACKGROUND, WorkQueue } from './work-queue.ts';

let clock: VirtualClock;
let queue: WorkQueue;
beforeEach(() => {
  clock = new VirtualClock();
  queue = new WorkQueue({ clock });
});

const takeAll = async () => {
  const keys: (string | undefined)[] = [];
  while (queue.size > 0) keys.push(await queue.take());
  return keys;
};

describe('a key', () => {
  test('added many times comes out once', async () => {
    for (let i = 0; i < 3; i++) queue.add('a');
    expect(await takeAll()).toEqual(['a']);
  });

  test('added while it is being worked on comes back once, and only after done', async () => {
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.size).toBe(0);
    queue.done('a');
    expect(await takeAll()).toEqual(['a']);
  });

  test('comes out in its time, not before', async () => {
    queue.add('late', { afterMs: 1000 });
    let taken: string | undefined;
    void queue.take().then((key) => (taken = key));
    await clock.advance(999);
    expect(taken).toBeUndefined();
    await clock.advance(1);
    expect(taken).toBe('late');
  });

  test('asked for twice comes at the earlier time', async () => {
    queue.add('a', { afterMs: 5000 });
    queue.add('a', { afterMs: 100 });
    await clock.advance(100);
    expect(await takeAll()).toEqual(['a']);
    queue.done('a');
    await clock.advance(10_000);
    expect(queue.size).toBe(0);
  });

  test('waits 5, 10, 20 ms after failures, and success starts over', async () => {
    const waits: number[] = [];
    for (let failure = 0; failure < 4; failure++) {
      if (failure === 3) queue.forget('a');
      const asked = clock.monotonic();
      queue.retry('a');
      expect(await clock.runUntil(() => queue.size > 0, 10_000)).toBe(true);
      waits.push(clock.monotonic() - asked);
      await queue.take();
      queue.done('a');
    }
    expect(waits).toEqual([5, 10, 20, 5]);
  });
});

describe('the order', () => {
  test('is that of becoming ready, inside a priority', async () => {
    queue.add('b', { afterMs: 20 });
    queue.add('a', { afterMs: 10 });
    await clock.advance(15);
    queue.add('c');
    await clock.advance(10);
    expect(await takeAll()).toEqual(['a', 'c', 'b']);
  });

  test('lets a change pass what the first listing brought in', async () => {
    queue.add('old1', { priority: BACKGROUND });
    queue.add('old2', { priority: BACKGROUND });
    queue.add('fresh');
    queue.add('old2');
    expect(await takeAll()).toEqual(['fresh', 'old2', 'old1']);
  });
});

test('one timer serves all waiting keys', () => {
  for (let i = 0; i < 100; i++) queue.add(`k${i}`, { afterMs: 1000 - i });
  expect(clock.pending).toBe(1);
});

test('closing wakes the takers, keeps no timer and refuses keys', async () => {
  const taken = queue.take();
  queue.add('later', { afterMs: 50 });
  queue.close();
  queue.add('refused');
  expect(await taken).toBeUndefined();
  expect(await queue.take()).toBeUndefined();
  expect(clock.pending).toBe(0);
});

type Operation =
  | { do: 'add'; key: string; afterMs: number; priority: number }
  | { do: 'retry'; key: string }
  | { do: 'take' }
  | { do: 'done' }
  | { do: 'advance'; ms: number };

const key = fc.constantFrom('a', 'b', 'c', 'd');
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    key,
    afterMs: fc.constantFrom(0, 0, 1, 5, 40),
    priority: fc.constantFrom(0, 0, BACKGROUND, 7),
  }),
  fc.record({ do: fc.constant('retry' as const), key }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const) }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 30 }) }),
);

/** The same promises, kept by the simplest means: what is wanted, when, and what is held. */
class Model {
  now = 0;
  readonly wanted = new Map<string, { at: number; priority: number }>();
  readonly again = new Map<string, { at: number; priority: number }>();
  readonly held = new Set<string>();
  readonly failures = new Map<string, number>();

  add(key: string, afterMs: number, priority: number): void {
    const target = this.held.has(key) ? this.again : this.wanted;
    const old = target.get(key);
    const at = this.now + afterMs;
    target.set(key, old ? { at: Math.min(old.at, at), priority: Math.max(old.priority, priority) } : { at, priority });
  }

  retryDelay(key: string): number {
    const failures = (this.failures.get(key) ?? 0) + 1;
    this.failures.set(key, failures);
    return 5 * 2 ** (failures - 1);
  }

  /** The keys that may come next: ready ones of the highest priority. */
  candidates(): string[] {
    const ready = [...this.wanted].filter(([, { at }]) => at <= this.now);
    const highest = Math.max(...ready.map(([, { priority }]) => priority));
    return ready.filter(([, { priority }]) => priority === highest).map(([name]) => name);
  }
}

test('whatever is done to it, no key is lost, early, doubled or held twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
      const clock = new VirtualClock();
      const queue = new WorkQueue({ clock });
      const model = new Model();
      for (const step of operations) {
        if (step.do === 'add') {
          queue.add(step.key, step);
          model.add(step.key, step.afterMs, step.priority);
        } else if (step.do === 'retry') {
          queue.retry(step.key);
          model.add(step.key, model.retryDelay(step.key), 0);
        } else if (step.do === 'advance') {
          await clock.advance(step.ms);
          model.now += step.ms;
        } else if (step.do === 'take' && queue.size > 0) {
          const taken = await queue.take();
          expect(model.candidates()).toContain(taken);
          expect(model.held).not.toContain(taken);
          model.wanted.delete(taken ?? '');
          model.held.add(taken ?? '');
        } else if (step.do === 'done') {
          const [held] = model.held;
          if (held === undefined) continue;
          queue.done(held);
          model.held.delete(held);
          const again = model.again.get(held);
          model.again.delete(held);
          if (again) model.wanted.set(held, again);
        }
        expect(queue.size).toBe([...model.wanted.values()].filter(({ at }) => at <= model.now).length);
      }
    }),
    { numRuns: 500 },
  );
});
