import type { Clock, Timer } from '../clock.ts';

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until it is told to move. Timers fire in the order of their times, then of their making, and
 * everything that a timer sets off in this process is run before the next one fires.
 */
export class VirtualClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #waiting = new Set<Waiting>();
  readonly #start = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#start + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): Timer {
    // Whole milliseconds: sums of fractions may never reach the deadline they were the rest of.
    const waiting = { at: this.#now + Math.ceil(Math.max(0, ms)), order: this.#order++, callback };
    this.#waiting.add(waiting);
    return { cancel: () => this.#waiting.delete(waiting) };
  }

  /** How many timers wait: zero after a clean stop. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Moves time on by `ms`, firing what falls due on the way. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await this.runUntil(() => false, ms);
    this.#now = until;
  }

  /** Moves time on, timer by timer, until `done()` holds; false if `limitMs` passes or nothing is left to wait for. */
  async runUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    const until = this.#now + limitMs;
    await settle();
    while (!done()) {
      const next = this.#next();
      if (next === undefined || next.at > until) return false;
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    return true;
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      if (next === undefined || one.at < next.at || (one.at === next.at && one.order < next.order)) next = one;
    }
    return next;
  }
}

/** Lets every promise that can go on without time passing go on: a macrotask runs only once no microtask is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
