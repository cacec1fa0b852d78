/** Time, handed in. Any clock will do: that of the platform, or a virtual one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
