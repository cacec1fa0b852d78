import type { Clock, Timer } from '../clock.ts';
import type { Source } from '../connector.ts';
import { type Logger, messageOf } from '../log.ts';
import type { Origin } from '../message.ts';
import { pause, unlessAborted } from '../waiting.ts';
import type { PipelineEvents } from './events.ts';
import { errorTypeOf } from './failures.ts';
import type { Ledger } from './ledger.ts';

export interface CommitterOptions {
  readonly source: Pick<Source, 'commit'>;
  readonly ledger: Ledger;
  /** Positions that become committable within this time are committed together. 0: each time at once. */
  readonly intervalMs: number;
  /** The first is committed at once if the last commit is that long ago. */
  readonly isPrompt: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly on: PipelineEvents;
}

/** After a commit that failed: the next one carries it along. */
const RETRY_MS = 1_000;

/** Commits what the ledger says may be: seldom, one commit at a time, and once more at the end. */
export class Committer {
  readonly #options: CommitterOptions;
  /** Given out by the ledger, not yet durable: the last of each partition. */
  readonly #pending = new Map<string, Origin>();
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #behindSince: number | undefined;
  #committedAt = Number.NEGATIVE_INFINITY;
  #isEnded = false;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Since when something may be committed and nothing is, in milliseconds since the epoch. */
  get behindSince(): number | undefined {
    return this.#behindSince;
  }

  /** The ledger may have got further. */
  look(): void {
    if (this.#isBehind) this.#behindSince ??= this.#options.clock.now();
    const { intervalMs, isPrompt, clock } = this.#options;
    this.#schedule(isPrompt ? Math.max(0, this.#committedAt + intervalMs - clock.monotonic()) : intervalMs);
  }

  /** A partition that was lost: its next reader starts from what is durable. */
  forget(partition: string): void {
    this.#pending.delete(partition);
    if (!this.#isBehind) this.#behindSince = undefined;
  }

  /** Everything that may be committed is, unless the signal aborts first; rejects if the last attempt failed. */
  async finish(signal: AbortSignal): Promise<void> {
    this.#isEnded = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#isBehind || this.#running) {
      try {
        // One under way does not reject: what it fails to do is left to the next round.
        await unlessAborted(this.#running ?? this.#commit(), signal);
      } catch (error) {
        if (!signal.aborted) await pause(this.#options.clock, RETRY_MS, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  get #isBehind(): boolean {
    return this.#pending.size > 0 || this.#options.ledger.hasCommittable;
  }

  #schedule(ms: number): void {
    if (this.#isEnded || this.#timer || this.#running || !this.#isBehind) return;
    const begin = () => {
      this.#timer = undefined;
      this.#running = this.#commitAndLook();
    };
    if (ms === 0) begin();
    else this.#timer = this.#options.clock.after(ms, begin);
  }

  /** Does not reject: what failed is tried again, later or by `finish`. */
  async #commitAndLook(): Promise<void> {
    const { intervalMs } = this.#options;
    let nextMs = intervalMs;
    try {
      await this.#commit();
    } catch {
      nextMs = Math.max(RETRY_MS, intervalMs);
    }
    this.#running = undefined;
    this.#schedule(nextMs);
  }

  async #commit(): Promise<void> {
    const { source, ledger, clock, log, on } = this.#options;
    for (const origin of ledger.takeCommittable()) this.#pending.set(origin.partition, origin);
    const origins = [...this.#pending.values()];
    if (origins.length === 0) return;
    const startedAt = clock.monotonic();
    try {
      await source.commit(origins);
    } catch (error) {
      log.warn({ partitions: origins.length, error: messageOf(error) }, 'could not commit; trying again');
      on.failed?.({ stage: 'commit', type: errorTypeOf(error), messages: 0 });
      throw error;
    }
    this.#committedAt = clock.monotonic();
    on.committed?.(origins, this.#committedAt - startedAt);
    for (const { partition } of origins) this.#pending.delete(partition);
    this.#behindSince = this.#isBehind ? clock.now() : undefined;
  }
}
