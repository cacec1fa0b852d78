import type { Clock, Timer } from '@polder/kube';

/**
 * The clock of one process. Whatever a program does next, it does because a timer fired or an answer came, and answers come by
 * timers of this clock: stop it, and the process is dead; hold it, and the process stands still while time goes on.
 */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #state: 'runs' | 'held' | 'stopped' = 'runs';
  /** What fell due while the process stood still, in order. */
  #overdue: { readonly timer: Timer; readonly callback: () => void }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, callback: () => void): Timer {
    if (this.#state === 'stopped') return { cancel() {} };
    const timer = this.#clock.after(ms, () => {
      if (this.#state === 'held') this.#overdue.push({ timer, callback });
      else this.#fire(timer, callback);
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        timer.cancel();
        this.#timers.delete(timer);
      },
    };
  }

  #fire(timer: Timer, callback: () => void): void {
    if (this.#timers.delete(timer)) callback();
  }

  /** As a process that gets no CPU: nothing fires until `release`. */
  hold(): void {
    if (this.#state === 'runs') this.#state = 'held';
  }

  release(): void {
    if (this.#state !== 'held') return;
    this.#state = 'runs';
    const overdue = this.#overdue;
    this.#overdue = [];
    for (const { timer, callback } of overdue) this.#fire(timer, callback);
  }

  /** Nothing fires any more. */
  stop(): void {
    this.#state = 'stopped';
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#overdue = [];
  }
}
