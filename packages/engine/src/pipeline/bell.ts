import type { Clock, Timer } from '../clock.ts';

/** For those who wait until something may have changed: when it rings they look for themselves, and wait again if it has not. */
export class Bell {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Until it rings, the signal aborts or `ms` have passed, whichever is first. Never rejects. */
  wait(signal: AbortSignal, ms = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      let timer: Timer | undefined;
      const wake = () => {
        timer?.cancel();
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#waiting.add(wake);
      if (ms !== Number.POSITIVE_INFINITY) timer = this.#clock.after(ms, wake);
    });
  }
}
