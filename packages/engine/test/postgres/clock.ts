import type { Clock } from '../../src/clock.ts';

/** The time of the platform: a real server does not wait for a virtual one. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const handle = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};
