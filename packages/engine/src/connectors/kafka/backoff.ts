import type { Clock } from '../../clock.ts';

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

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
    const whole = Math.min(FIRST_MS * 2 ** this.#failures++, LONGEST_MS);
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        timer.cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = this.#clock.after(whole / 2 + (whole / 2) * this.#random(), wake);
      signal.addEventListener('abort', wake);
    });
  }
}
