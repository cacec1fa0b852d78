import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Message } from '../../message.ts';
import { pause, pauseAfter } from '../../waiting.ts';

export interface Polling {
  /** For the log: whom reading fails. */
  readonly system: string;
  /** Everything that is new, or as many rows of it as a portion has. */
  poll(): AsyncIterable<readonly Message[]>;
  /** Whether the next poll goes on where this one ended; otherwise each begins anew. */
  readonly goesOn: boolean;
  /** Rows in a portion; 0 if there are none. */
  readonly portion: number;
  readonly pollIntervalMs: number;
  /** Ends when there is no more, instead of waiting for it. */
  readonly isOneOff: boolean;
  /** Why a poll failed, if the next may not. */
  passing(error: unknown): { readonly type: string; readonly message: string } | undefined;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

const PAUSES = { firstMs: 500, longestMs: 30_000 };

/** Polls until the signal aborts. What fails and may pass is tried again, later each time. */
export async function* polled(polling: Polling, signal: AbortSignal): AsyncIterable<readonly Message[]> {
  const { system, goesOn, portion, pollIntervalMs, isOneOff, clock, random, log } = polling;
  let failures = 0;
  while (!signal.aborted) {
    let count = 0;
    try {
      for await (const batch of polling.poll()) {
        count += batch.length;
        failures = 0;
        yield batch;
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const trouble = polling.passing(error);
      if (!trouble) throw error;
      const ms = pauseAfter(++failures, PAUSES, random);
      log.warn({ type: trouble.type, ms: Math.round(ms) }, `${system}: ${trouble.message}; reading again soon`);
      await pause(clock, ms, signal);
      continue;
    }
    if (isOneOff && (count === 0 || !goesOn)) return;
    // There may be more where a full portion came from.
    if (isOneOff || (portion > 0 && count >= portion && goesOn)) continue;
    await pause(clock, pollIntervalMs, signal);
  }
}
