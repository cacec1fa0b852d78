import { Heap } from '../queue/heap.ts';
import type { Clock, Timer } from './clock.ts';

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Most timers are deadlines that never fall due: their remains are swept out before they outweigh what waits. */
const FEW = 1_000;

/**
 * A clock that stands still until it is told to move. Timers fire in the order of their times, then of their making,
 * and everything that a timer sets off in this process is run before the next one fires: same program, same trace.
 */
export class VirtualClock implements Clock {
  /** Counted from zero: small numbers keep the fractions of a millisecond that sums of delays have. */
  #now = 0;
  readonly #start: number;
  #order = 0;
  readonly #waiting = new Set<Waiting>();
  /** What waits, soonest first, and among it what was cancelled since. */
  #queue = queueOf([]);

  constructor(startsAt: number = Date.UTC(2026, 0, 1)) {
    this.#start = startsAt;
  }

  now(): number {
    return this.#start + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): Timer {
    const waiting: Waiting = { at: this.#now + onTick(Math.max(0, ms)), order: this.#order++, callback };
    this.#waiting.add(waiting);
    if (this.#queue.size > FEW && this.#queue.size > 2 * this.#waiting.size) this.#queue = queueOf(this.#waiting);
    else this.#queue.push(waiting);
    return { cancel: () => this.#waiting.delete(waiting) };
  }

  /** How many timers wait: zero after a clean stop. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Moves time on by `ms`, firing what falls due on the way. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + onTick(ms);
    await settle();
    for (let next = this.#next(); next !== undefined && next.at <= until; next = this.#next()) await this.#fire(next);
    this.#now = until;
  }

  /** Time passes and nobody runs, as when the event loop is blocked: what fell due meanwhile fires late. */
  block(ms: number): void {
    this.#now += onTick(ms);
  }

  /** Moves time on, timer by timer, until `done()` holds; false if `limitMs` passes or nothing is left to wait for. */
  async runUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    const until = this.#now + onTick(limitMs);
    await settle();
    while (!done()) {
      const next = this.#next();
      if (next === undefined || next.at > until) return false;
      await this.#fire(next);
    }
    return true;
  }

  async #fire(next: Waiting): Promise<void> {
    this.#waiting.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    await settle();
  }

  #next(): Waiting | undefined {
    for (;;) {
      const next = this.#queue.peek();
      if (next === undefined || this.#waiting.has(next)) return next;
      this.#queue.pop();
    }
  }
}

function queueOf(waiting: Iterable<Waiting>): Heap<Waiting> {
  const queue = new Heap<Waiting>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  for (const one of waiting) queue.push(one);
  return queue;
}

/**
 * Time has a grain, as on any machine: the 1024th of a millisecond. Sums of such times are exact, so that one who waits for
 * what is left of a deadline gets there; with any fraction, the rest can be so small that adding it changes nothing.
 */
function onTick(ms: number): number {
  return Math.ceil(ms * 1024) / 1024;
}

/** Lets every promise that can go on without time passing go on: a macrotask runs only once no microtask is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
