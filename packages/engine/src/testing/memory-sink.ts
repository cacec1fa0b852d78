import type { Sink } from '../connector.ts';
import type { Failure, Message } from '../message.ts';

/** What may go wrong, asked at each step: throw, or wait, to make it so. */
export interface SinkFaults {
  connect?(signal: AbortSignal): Promise<void> | void;
  /** Before anything of the batch is durable. Those of which it gives a failure are not written. */
  write?(
    batch: readonly Message[],
    signal: AbortSignal,
  ): Promise<readonly Failure[] | void> | readonly Failure[] | void;
  /** After the batch is durable, before the writer knows. */
  wrote?(batch: readonly Message[], signal: AbortSignal): Promise<void> | void;
  close?(): Promise<void> | void;
}

/** Keeps what it is given. Where several share one array of messages, that is the table which outlives them. */
export class MemorySink implements Sink {
  readonly messages: Message[];
  readonly #faults: SinkFaults;
  /** The sizes of the batches that came, failed or not. */
  readonly attempts: number[] = [];
  isConnected = false;
  isClosed = false;

  constructor(faults: SinkFaults = {}, messages: Message[] = []) {
    this.#faults = faults;
    this.messages = messages;
  }

  get texts(): string[] {
    return this.messages.map(({ payload }) => payload?.text ?? '');
  }

  async connect(signal: AbortSignal): Promise<void> {
    await this.#faults.connect?.(signal);
    this.isConnected = true;
  }

  async write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    if (!this.isConnected) throw new Error('not connected, call connect first');
    this.attempts.push(batch.length);
    const failures = (await this.#faults.write?.(batch, signal)) ?? [];
    const failed = new Set(failures.map(({ message }) => message));
    this.messages.push(...batch.filter((message) => !failed.has(message)));
    await this.#faults.wrote?.(batch, signal);
    return failures;
  }

  async close(): Promise<void> {
    await this.#faults.close?.();
    this.isClosed = true;
  }
}

/** Failures of those messages that `isBroken`: a sink that refuses them, for good or for now. */
export function refuse(
  batch: readonly Message[],
  isBroken: (text: string) => boolean,
  isRetryable = false,
): readonly Failure[] {
  return batch
    .filter(({ payload }) => isBroken(payload?.text ?? ''))
    .map((message) => ({ message, because: 'refused', type: isRetryable ? 'transient' : 'invalid_data', isRetryable }));
}
