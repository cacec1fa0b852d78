import type { Failure, Message, Origin } from './message.ts';

/** Where messages come from. One reader at a time; `commit` may be called while it reads. */
export interface Source {
  /** Fails if the system can't be reached or refuses us: at the start that ends the program. */
  connect(signal: AbortSignal): Promise<void>;
  /**
   * Batches as they come, until the signal aborts or there is no more (a one-off query). Nobody asks for the next one before
   * there is room for it. What breaks on the way is mended here (reconnection with backoff); it throws only what can't be.
   */
  read(signal: AbortSignal): AsyncIterable<readonly Message[]>;
  /** Up to and including these: one for each partition. Those of partitions that were lost meanwhile are ignored. */
  commit(origins: readonly Origin[]): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Where messages go. */
export interface Sink {
  connect(signal: AbortSignal): Promise<void>;
  /**
   * Writes a batch, and says of each message that could not be written why. What is not among the failures is durable. Throws
   * only for the whole batch at once: then nothing is known of any of it, and it is written again.
   */
  write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Where polling sources keep how far they have read. */
export interface CheckpointStore {
  load(key: string): Promise<unknown>;
  /** Durable when it resolves. */
  save(key: string, checkpoint: unknown): Promise<void>;
}
