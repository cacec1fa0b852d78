/**
 * Time, handed in. Everything in this package that waits, measures or stamps takes a `Clock`, so that a test can hold time
 * still and move it on by hand.
 */
export interface Clock {
  /** Milliseconds since the epoch; may jump. For stamps that people and other programs read. */
  now(): number;
  /** Milliseconds since some fixed point; never jumps. For measuring and for deadlines. */
  monotonic(): number;
  /** Calls back once, after `ms`. */
  after(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}
