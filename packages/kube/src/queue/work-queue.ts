import type { Clock, Timer } from '../clock/index.ts';
import { Heap } from './heap.ts';
import { ReadyList } from './ready-list.ts';

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** How long a key waits after its n-th failure in a row (n starts at 1). Default: 5 ms, doubling, at most 1000 s. */
  readonly backoff?: (failures: number) => number;
  /** Told of what happens, for metrics. */
  readonly on?: QueueEvents;
}

export interface QueueEvents {
  added?(key: string, priority: number): void;
  retried?(key: string): void;
  /** A key is handed to a worker after waiting, ready, for this long. */
  started?(key: string, waitedMs: number): void;
  finished?(key: string, workedMs: number): void;
}

export interface AddOptions {
  /** Not before this many milliseconds from now. */
  readonly afterMs?: number | undefined;
  /** Higher goes first; 0 if nothing is said. What the first listing of a kind brings in gets `BACKGROUND`. */
  readonly priority?: number | undefined;
}

/** The priority of keys that nobody waits for: a restart enqueues everything, and a fresh change must not stand behind it. */
export const BACKGROUND = -100;

interface Entry {
  priority: number;
  /** When it may be taken; a key that is ready keeps the time at which it became so. */
  readyAt: number;
  state: 'waiting' | 'ready';
}

interface Waiting {
  readonly key: string;
  readonly at: number;
  readonly order: number;
}

/**
 * Keys to work on. It promises:
 * - a key is in it at most once, however often it was added: the highest priority and the earliest time win;
 * - two workers never hold the same key; what is added meanwhile comes back once, after `done`;
 * - nothing comes out before its time, nothing is lost, and inside a priority the order is that of becoming ready.
 *
 * Keys carry no events and no objects: what happened does not matter, what is does.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backoff: (failures: number) => number;
  readonly #on: QueueEvents;
  /** Everything that is to be handed out, ready or not, except what is being worked on. */
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new ReadyList();
  readonly #waiting = new Heap<Waiting>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  /** Being worked on, since when, and with what the key is to come back. */
  readonly #working = new Map<string, { readonly since: number; again: Entry | undefined }>();
  readonly #failures = new Map<string, number>();
  #takers: ((key: string | undefined) => void)[] = [];
  /** One timer, for the earliest waiting key. */
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #order = 0;
  #size = 0;
  #isClosed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#backoff = options.backoff ?? ((failures) => Math.min(5 * 2 ** (failures - 1), 1_000_000));
    this.#on = options.on ?? {};
  }

  /** How many keys could be taken now. */
  get size(): number {
    return this.#size;
  }

  /** The same by priority. */
  get depths(): Map<number, number> {
    const depths = new Map<number, number>();
    for (const { state, priority } of this.#entries.values()) {
      if (state === 'ready') depths.set(priority, (depths.get(priority) ?? 0) + 1);
    }
    return depths;
  }

  add(key: string, { afterMs = 0, priority = 0 }: AddOptions = {}): void {
    if (this.#isClosed) return;
    const readyAt = this.#clock.monotonic() + Math.max(0, afterMs);
    const working = this.#working.get(key);
    if (working) {
      working.again = earliest(working.again, { priority, readyAt, state: 'waiting' });
      return;
    }
    this.#put(key, priority, readyAt);
  }

  /** The work failed: the key comes back after its backoff. */
  retry(key: string, { priority }: Pick<AddOptions, 'priority'> = {}): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#on.retried?.(key);
    this.add(key, { afterMs: this.#backoff(failures), priority });
  }

  /** The work succeeded: the next failure starts from the shortest backoff. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, as soon as there is one; undefined once the queue is closed. Every key taken has to be `done`. */
  take(): Promise<string | undefined> {
    const key = this.#isClosed ? undefined : this.#next();
    if (key !== undefined || this.#isClosed) return Promise.resolve(key);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(key: string): void {
    const working = this.#working.get(key);
    if (!working) return;
    this.#working.delete(key);
    this.#on.finished?.(key, this.#clock.monotonic() - working.since);
    if (working.again && !this.#isClosed) this.#put(key, working.again.priority, working.again.readyAt);
  }

  /** How long each key in work has been there. */
  get workingMs(): number[] {
    const now = this.#clock.monotonic();
    return [...this.#working.values()].map(({ since }) => now - since);
  }

  /** Nothing goes in or out any more; keys in work stay with their workers. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #put(key: string, priority: number, readyAt: number): void {
    const present = this.#entries.get(key);
    if (present) {
      const isRaised = priority > present.priority;
      present.priority = Math.max(present.priority, priority);
      if (present.state === 'ready') {
        // The old place in the lower level is skipped when it comes up.
        if (isRaised) this.#ready.push(key, priority);
        return;
      }
      if (readyAt >= present.readyAt) return;
      present.readyAt = readyAt;
    } else {
      this.#entries.set(key, { priority, readyAt, state: 'waiting' });
      this.#on.added?.(key, priority);
    }
    if (readyAt <= this.#clock.monotonic()) this.#becomeReady(key);
    else this.#wait(key, readyAt);
  }

  #becomeReady(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry || entry.state === 'ready') return;
    entry.state = 'ready';
    this.#size++;
    this.#ready.push(key, entry.priority);
    const taker = this.#takers.shift();
    if (taker) taker(this.#next());
  }

  #next(): string | undefined {
    const key = this.#ready.shift((candidate, priority) => {
      const entry = this.#entries.get(candidate);
      return entry?.state === 'ready' && entry.priority === priority;
    });
    if (key === undefined) return undefined;
    const now = this.#clock.monotonic();
    this.#on.started?.(key, now - (this.#entries.get(key)?.readyAt ?? now));
    this.#entries.delete(key);
    this.#size--;
    this.#working.set(key, { since: now, again: undefined });
    return key;
  }

  #wait(key: string, at: number): void {
    this.#waiting.push({ key, at, order: this.#order++ });
    this.#setTimer();
  }

  #setTimer(): void {
    const next = this.#waiting.peek();
    if (!next || (this.#timer && this.#timer.at <= next.at)) return;
    this.#timer?.timer.cancel();
    const timer = this.#clock.after(next.at - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      // A timer may fire a hair before its time; what it was set for is due all the same.
      const now = Math.max(this.#clock.monotonic(), next.at);
      for (let due = this.#waiting.peek(); due && due.at <= now; due = this.#waiting.peek()) {
        this.#waiting.pop();
        // A key that was added again for an earlier time has left this entry behind.
        if (this.#entries.get(due.key)?.readyAt === due.at) this.#becomeReady(due.key);
      }
      this.#setTimer();
    });
    this.#timer = { at: next.at, timer };
  }
}

function earliest(a: Entry | undefined, b: Entry): Entry {
  if (!a) return b;
  return { priority: Math.max(a.priority, b.priority), readyAt: Math.min(a.readyAt, b.readyAt), state: 'waiting' };
}
