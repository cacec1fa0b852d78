import type { Clock } from '../clock.ts';
import type { ReadEvents, Source } from '../connector.ts';
import type { Failure, Message, Metadata, Origin } from '../message.ts';
import { Payload } from '../payload.ts';

/** One record of a partition: a text, or one that its source can't decode. */
export interface MemoryRecord {
  readonly text: string;
  readonly metadata?: Metadata;
  readonly isUndecodable?: boolean;
}

/** What outlives a reader: the records, and how far each partition was committed. Positions count from 0. */
export class MemoryTopic {
  readonly partitions: ReadonlyMap<string, readonly MemoryRecord[]>;
  /** The next position to read. */
  readonly committed = new Map<string, number>();

  constructor(partitions: Readonly<Record<string, readonly (string | MemoryRecord)[]>>) {
    const records = (given: readonly (string | MemoryRecord)[]) =>
      given.map((one) => (typeof one === 'string' ? { text: one } : one));
    this.partitions = new Map(Object.entries(partitions).map(([name, given]) => [name, records(given)]));
  }

  get isCommitted(): boolean {
    return [...this.partitions].every(([name, records]) => (this.committed.get(name) ?? 0) === records.length);
  }
}

/** What may go wrong, asked at each step: throw, or wait, to make it so. */
export interface SourceFaults {
  connect?(): Promise<void> | void;
  /** Before each batch. */
  read?(signal: AbortSignal): Promise<void> | void;
  commit?(origins: readonly Origin[]): Promise<void> | void;
  close?(): Promise<void> | void;
}

export interface MemorySourceOptions {
  readonly topic: MemoryTopic;
  readonly clock: Clock;
  readonly faults?: SourceFaults;
  readonly batchSize?: number;
  /** Wait for the signal after the last record, as a queue does, instead of ending, as a query does. */
  readonly isEndless?: boolean;
}

/** Reads a `MemoryTopic` from where it was committed, partition by partition in turns. */
export class MemorySource implements Source {
  readonly #options: MemorySourceOptions;
  readonly #next = new Map<string, { position: number; sequence: number }>();
  #events: ReadEvents | undefined;
  #wake: () => void = () => {};
  /** How many records were handed out. */
  handedOut = 0;
  isClosed = false;

  constructor(options: MemorySourceOptions) {
    this.#options = options;
  }

  async connect(): Promise<void> {
    const { topic, faults } = this.#options;
    await faults?.connect?.();
    for (const name of topic.partitions.keys()) this.#assign(name);
  }

  async *read(signal: AbortSignal, events: ReadEvents): AsyncGenerator<readonly (Message | Failure)[]> {
    const { faults, isEndless = false } = this.#options;
    this.#events = events;
    for (;;) {
      await faults?.read?.(signal);
      if (signal.aborted) return;
      const batch = this.#batch();
      if (batch.length > 0) {
        this.handedOut += batch.length;
        yield batch;
      } else if (!isEndless) return;
      else await this.#more(signal);
    }
  }

  async commit(origins: readonly Origin[]): Promise<void> {
    const { topic, faults } = this.#options;
    await faults?.commit?.(origins);
    for (const { partition, position } of origins) {
      if (typeof position === 'number' && this.#next.has(partition)) topic.committed.set(partition, position + 1);
    }
  }

  describe({ partition, position }: Origin): string {
    return `${partition}, position ${Number(position)}`;
  }

  async close(): Promise<void> {
    await this.#options.faults?.close?.();
    this.isClosed = true;
  }

  /** The partition goes to another reader. */
  revoke(partition: string): void {
    this.#next.delete(partition);
    this.#events?.revoked([partition]);
  }

  /** It comes (back) to this one, which starts from what was committed and counts anew. */
  assign(partition: string): void {
    this.#assign(partition);
    this.#wake();
  }

  async #more(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener('abort', this.#wake, { once: true });
    await promise;
  }

  #assign(partition: string): void {
    this.#next.set(partition, { position: this.#options.topic.committed.get(partition) ?? 0, sequence: 0 });
  }

  #batch(): (Message | Failure)[] {
    const { topic, batchSize = 10 } = this.#options;
    const batch: (Message | Failure)[] = [];
    for (let isMore = true; isMore && batch.length < batchSize; ) {
      isMore = false;
      for (const [partition, next] of this.#next) {
        const record = topic.partitions.get(partition)?.[next.position];
        if (record === undefined || batch.length >= batchSize) continue;
        isMore = true;
        batch.push(this.#input(record, partition, next.position++, next.sequence++));
      }
    }
    return batch;
  }

  #input(record: MemoryRecord, partition: string, position: number, sequence: number): Message | Failure {
    const { text, metadata = {}, isUndecodable = false } = record;
    const origin = { partition, sequence, position, readAt: this.#options.clock.now() };
    const message = { payload: Payload.ofText(text), metadata: { ...metadata, partition, offset: position }, origin };
    if (!isUndecodable) return message;
    return { message, because: 'no such schema', type: 'invalid_data', isRetryable: false };
  }
}
