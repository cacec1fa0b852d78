/** Time, handed in. Any clock that can call back will do: that of the platform, or a virtual one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, after `ms`. */
  after(ms: number, callback: () => void): { cancel(): void };
}

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });
