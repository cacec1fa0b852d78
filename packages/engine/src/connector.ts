import type { Failure, Message, Origin } from './message.ts';

/** Where messages come from. One reader at a time; `commit` may be called while it reads. */
export interface Source {
  /** Fails if the system can't be reached or refuses us: at the start that ends the program. */
  connect(signal: AbortSignal): Promise<void>;
  /**
   * Batches as they come, until the signal aborts or there is no more (a one-off query). Nobody asks for the next one before
   * there is room for it. What breaks on the way is mended here (reconnection with backoff); it throws only what can't be.
   * An input that can't be decoded comes as a failure, whose message has the payload as it was.
   */
  read(signal: AbortSignal, events: ReadEvents): AsyncIterable<readonly (Message | Failure)[]>;
  /** Up to and including these: one for each partition. Those of partitions that were lost meanwhile are ignored. */
  commit(origins: readonly Origin[]): Promise<void>;
  /** Where people find an input: `topic orders, partition 3, offset 42`. Left out: its partition says enough. */
  describe?(origin: Origin): string;
  /** Idempotent. */
  close(): Promise<void>;
}

/** What a source tells while it reads. */
export interface ReadEvents {
  /**
   * These partitions went to another reader. What is in flight of them is not committed any more. One that comes back starts
   * with what was committed, and may count its sequence anew.
   */
  revoked(partitions: readonly string[]): void;
}

/** Where messages go. What is thrown here goes to the log: it quotes neither payloads nor secrets. */
export interface Sink {
  /** One that failed may be tried again. */
  connect(signal: AbortSignal): Promise<void>;
  /**
   * Writes a batch, and says of each message that could not be written why. What is not among the failures is durable. Throws
   * only for the whole batch at once: then nothing is known of any of it, and it is written again. Ends soon after the signal
   * aborts: the next write does not wait for it. Failures of single messages say nothing about the others; a sink that
   * keeps an order (by key, by partition) fails together what belongs together.
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
