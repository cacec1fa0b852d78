import type { Clock } from './clock.ts';

export interface Pauses {
  /** After the first failure; doubled for each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** How long to wait after the n-th failure in a row (n starts at 1): half of it by chance, so that no two march in step. */
export function pauseAfter(failures: number, { firstMs, longestMs }: Pauses, random: () => number): number {
  const whole = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return whole / 2 + (whole / 2) * random();
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const wake = () => {
      timer.cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.after(ms, wake);
    signal.addEventListener('abort', wake);
  });
}

/**
 * What `work` gives, or a rejection with the signal's reason as soon as it aborts: a connector that does not listen to its
 * signal can't keep a program from ending.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
