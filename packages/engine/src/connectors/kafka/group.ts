import type { Consumer } from '@platformatic/kafka';
import type { Logger } from '../../log.ts';
import { type Assignment, changeOf, type Lease, NOTHING } from './assignment.ts';
import type { Backoff } from './backoff.ts';
import { type KafkaError, kafkaError } from './trouble.ts';

export interface GroupOptions {
  readonly consumer: Consumer;
  readonly topic: string;
  /** For error messages. */
  readonly who: string;
  readonly backoff: Backoff;
  readonly log: Logger;
  /** Something changed: look again. */
  readonly changed: () => void;
  /** These are read by somebody else from now on. */
  readonly lost: (leases: readonly Lease[]) => void;
}

/**
 * Our membership in the consumer group: which partitions are ours, in which generation. The client answers heartbeats and
 * rejoins when the group rebalances, but it gives up where one attempt to rejoin fails; here it is tried again.
 */
export class Group {
  readonly #options: GroupOptions;
  readonly #closing = new AbortController();
  #assignment: Assignment = NOTHING;
  #isRejoining = false;
  #isRebalancing = false;
  #refusal: KafkaError | undefined;

  constructor(options: GroupOptions) {
    this.#options = options;
    const { consumer } = options;
    consumer.on('consumer:group:rebalance', () => this.#rebalancing());
    consumer.on('consumer:group:join', ({ generationId, assignments }) =>
      this.#joined(
        generationId ?? 0,
        (assignments ?? []).flatMap(({ topic, partitions }) => (topic === options.topic ? partitions : [])),
      ),
    );
    // A rejoin failed, and the client has stopped its heartbeats. (Without a listener this event ends the process.)
    consumer.on('error', (error: unknown) => void this.rejoin(error));
  }

  /** Empty while the group rebalances: until that is over nobody knows what is whose. */
  get leases(): ReadonlyMap<number, Lease> {
    return this.#isRebalancing ? NOTHING.leases : this.#assignment.leases;
  }

  get isRebalancing(): boolean {
    return this.#isRebalancing;
  }

  /** Ours now, or ours before the rebalance that is going on. */
  owns(lease: Lease): boolean {
    return this.#assignment.leases.get(lease.partition) === lease;
  }

  /** The brokers refuse us for good: nothing will come any more. */
  get refusal(): KafkaError | undefined {
    return this.#refusal;
  }

  /** The first time. Throws if the brokers refuse us. */
  async join(signal: AbortSignal): Promise<void> {
    const { consumer, topic, who, backoff } = this.#options;
    consumer.topics.track(topic);
    for (;;) {
      try {
        await consumer.joinGroup({});
        backoff.succeeded();
        return;
      } catch (error) {
        const trouble = kafkaError(error, who);
        // A group whose coordinator is just being made, or moves, lets nobody in for a moment.
        if (!trouble.isRetryable || backoff.failures > 6) throw trouble;
        await backoff.pause(signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Joins again until it works. The reason is for the log. */
  async rejoin(reason: unknown): Promise<void> {
    if (this.#isRejoining || this.#closing.signal.aborted) return;
    const { consumer, who, backoff, log, changed } = this.#options;
    this.#isRejoining = true;
    this.#rebalancing();
    try {
      for (let error = reason; !this.#closing.signal.aborted; ) {
        const trouble = kafkaError(error, who);
        log.warn({ error: trouble.message }, 'joining the consumer group again');
        await backoff.pause(this.#closing.signal);
        if (this.#closing.signal.aborted) return;
        try {
          await consumer.joinGroup({});
          backoff.succeeded();
          return;
        } catch (again) {
          const { type } = kafkaError(again, who);
          if (type === 'auth_error') {
            this.#refusal = kafkaError(again, who);
            changed();
            return;
          }
          error = again;
        }
      }
    } finally {
      this.#isRejoining = false;
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #rebalancing(): void {
    this.#isRebalancing = true;
    this.#options.changed();
  }

  #joined(generation: number, partitions: readonly number[]): void {
    const { topic, log, lost, changed } = this.#options;
    const change = changeOf(this.#assignment, generation, topic, partitions);
    this.#assignment = change.assignment;
    this.#isRebalancing = false;
    log.info(
      { topic, generation, partitions, lost: change.lost.map(({ partition }) => partition) },
      'partitions assigned',
    );
    if (change.lost.length > 0) lost(change.lost);
    changed();
  }
}
