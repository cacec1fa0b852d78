import type { Failure, Message } from '../message.ts';
import { errorRecord } from './error-record.ts';
import { ERRORS } from './events.ts';
import type { Ledger } from './ledger.ts';
import { Writer, type WriterOptions } from './writer.ts';

/**
 * When an input counts as done of which something went to the error sink. `afterWrite`: when it was written there. `never`:
 * not in this run, so that a restart reads it again, and with it everything after it in its partition, which is not committed
 * either. `afterMainSinkSuccess`: when the main sink has it, which on this path means the same.
 */
export type AckPolicy = 'afterWrite' | 'never' | 'afterMainSinkSuccess';

export interface ErrorSinkOptions extends Omit<WriterOptions, 'outlet' | 'isConnected' | 'budget' | 'gaveUp'> {
  readonly ackPolicy: AckPolicy;
  readonly ledger: Ledger;
  /** The type of the main sink, whichever sink refused the message. */
  readonly originalSink: string;
}

/**
 * Takes what could not be decoded, transformed or written, and only that. It has nobody to give up to, so it never does: what
 * it can't write stays uncommitted, and in the end holds everything up rather than be lost.
 */
export class ErrorSink {
  readonly writer: Writer;
  readonly #options: ErrorSinkOptions;

  constructor(options: ErrorSinkOptions) {
    this.#options = options;
    this.writer = new Writer({
      ...options,
      outlet: ERRORS,
      isConnected: true,
      written: (records) => this.#acknowledge(records),
    });
  }

  /** Waits for room as long as it takes. False: the signal aborted before all were taken; the others stay uncommitted. */
  async take(failures: readonly Failure[], signal: AbortSignal): Promise<boolean> {
    const { originalSink, clock } = this.#options;
    for (const failure of failures) {
      if (!this.writer.hasRoom && !(await this.writer.room(signal))) return false;
      this.writer.push(errorRecord(failure, originalSink, clock.now()), failure.message.payload?.size ?? 0);
    }
    return true;
  }

  #acknowledge(records: readonly Message[]): void {
    const { ackPolicy, ledger, written } = this.#options;
    for (const { origin } of records) {
      if (ackPolicy === 'afterWrite') ledger.settled(origin);
      else ledger.hold(origin);
    }
    written(records);
  }
}
