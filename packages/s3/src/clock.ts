/** Time, handed in. Any clock that can call back will do: that of the platform, or a virtual one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, after `ms`. */
  after(ms: number, callback: () => void): { cancel(): void };
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** A signal that aborts when the outer one does, or when nothing has happened for so long. */
export class Patience {
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #clock: Clock;
  readonly #ms: number;
  #timer: { cancel(): void } | undefined;

  constructor(clock: Clock, ms: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#ms = ms;
    this.signal = AbortSignal.any([outer, this.#late.signal]);
    this.renew();
  }

  get isOver(): boolean {
    return this.#late.signal.aborted;
  }

  /** Something happened. */
  renew(): void {
    this.end();
    this.#timer = this.#clock.after(this.#ms, () => this.#late.abort(new Error(`nothing for ${this.#ms / 1000} s`)));
  }

  end(): void {
    this.#timer?.cancel();
  }
}
