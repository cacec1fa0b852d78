import type { Clock } from '../../clock.ts';
import { pause, pauseAfter } from '../../waiting.ts';

const PAUSES = { firstMs: 100, longestMs: 5_000 };

/** Growing pauses between attempts, half of each by chance, so that members of a group do not march in step. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Resolves after the next pause, or at once when the signal aborts. */
  pause(signal: AbortSignal): Promise<void> {
    return pause(this.#clock, pauseAfter(++this.#failures, PAUSES, this.#random), signal);
  }
}
