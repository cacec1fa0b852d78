import type { Clock, Timer } from '../clock.ts';

/** The last part of the grace period is for committing what was written and for closing. */
const FOR_WORK = 0.8;

/** How long an ending may take. It runs from the first `begin`; until then there is no hurry. */
export class Grace {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #work = new AbortController();
  readonly #ending = new AbortController();
  #timers: Timer[] = [];
  #hasBegun = false;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Aborts when what is in flight can be waited for no longer. */
  get work(): AbortSignal {
    return this.#work.signal;
  }

  /** Aborts when the period is over. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const over = new Error(`the grace period of ${this.#ms} ms is over`);
    this.#timers = [
      this.#clock.after(this.#ms * FOR_WORK, () => this.#work.abort(over)),
      this.#clock.after(this.#ms, () => this.#ending.abort(over)),
    ];
  }

  /** Everything is down: nothing of it stays behind. */
  end(): void {
    for (const timer of this.#timers) timer.cancel();
  }
}
