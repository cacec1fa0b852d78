import type { Client } from '../client/index.ts';
import type { Clock } from '../clock/index.ts';
import type { Logger } from '../log.ts';

/**
 * How long something may take, is waited for, or is apart. It has a name, so that whoever runs an operator can change it:
 * what is a constant in the code can be tuned, and tested, by nobody.
 */
export interface Interval {
  /** In milliseconds. */
  readonly default: number;
  /** One sentence for those who might change it. */
  readonly comment: string;
}

/** All intervals of a product, by their names. */
export type Intervals = Readonly<Record<string, Interval>>;

/** How long each of them is, in milliseconds. */
export type Durations<I extends Intervals = Intervals> = { readonly [Name in keyof I]: number };

/** Where `host:port` is to be reached from here: an operator outside the cluster's network is told by whoever runs it. */
export type Resolve = (address: string) => string;

/** What the controllers of a product are made from. */
export interface Surroundings<I extends Intervals = Intervals> {
  /** For what is done outside of passes; a pass has its own `cluster`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly intervals: Durations<I>;
  readonly resolve: Resolve;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

/** Each interval as long as it is by default. */
export function defaultDurations<I extends Intervals>(intervals: I): Durations<I>;
export function defaultDurations(intervals: Intervals): Durations {
  return Object.fromEntries(Object.entries(intervals).map(([name, interval]) => [name, interval.default]));
}
