import type { Pauses } from '../waiting.ts';

/** How a write that failed, but may succeed, is tried again. */
export interface Retry extends Pauses {
  /** A message that could not be written for this long goes to the error sink, if there is one. */
  readonly budgetMs: number;
}

export const RETRY: Retry = { firstMs: 500, longestMs: 30_000, budgetMs: 300_000 };
