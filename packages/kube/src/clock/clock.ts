/**
 * Time, handed in. Everything in this package that waits, measures or stamps takes a `Clock`, so that a test or a
 * simulation can hold time still and move it on by hand (see `VirtualClock`).
 */
export interface Clock {
  /** Milliseconds since the epoch; may jump. For stamps that people and other programs read. */
  now(): number;
  /** Milliseconds since some fixed point; never jumps. For measuring and for deadlines. */
  monotonic(): number;
  /** Calls back once, after `ms`. Delays beyond what the platform can hold are waited for in parts. */
  after(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Timers of the platform overflow above 2^31-1 ms (24.8 days) and then fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    let handle: NodeJS.Timeout;
    const wait = (left: number) => {
      const part = Math.min(left, LONGEST_TIMEOUT);
      handle = setTimeout(() => (left > part ? wait(left - part) : callback()), part);
    };
    wait(Math.max(0, ms));
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Runs `work` with a signal that also aborts after `ms`, on the given clock. */
export async function withTimeout<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal | undefined,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  // Not `AbortSignal.any`: it is kept by the outer signal until it is collected, and passes would leave thousands behind.
  const onAbort = () => ending.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener('abort', onAbort, { once: true });
  const timer = clock.after(ms, () => ending.abort(new TimeoutError(`${what} took longer than ${ms} ms`)));
  try {
    return await work(ending.signal);
  } finally {
    timer.cancel();
    outer?.removeEventListener('abort', onAbort);
  }
}

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}
