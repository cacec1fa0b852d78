import { type ConnectionOptions, ConnectionPool, type Consumer } from '@platformatic/kafka';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Lease } from './assignment.ts';
import { Backoff } from './backoff.ts';
import { FetchSize } from './fetch-size.ts';
import { KafkaError, kafkaError } from './trouble.ts';

export interface FetcherOptions {
  readonly consumer: Consumer;
  readonly connection: ConnectionOptions & { readonly clientId: string };
  readonly topic: string;
  readonly who: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** An answer is there to be taken, or a broker may be asked again. */
  readonly changed: () => void;
}

/** A partition, and the offset from which it was asked for. */
export interface Wanted {
  readonly lease: Lease;
  readonly offset: number;
}

/** What a broker answered. */
export interface Arrival {
  readonly wanted: readonly Wanted[];
  readonly partitions: readonly FetchedPartition[];
  readonly error: unknown;
}

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>;
export type FetchedPartition = FetchResponse['responses'][number]['partitions'][number];

interface Request {
  readonly node: number;
  readonly topicId: string;
  readonly wanted: readonly Wanted[];
}

/** Asks the leaders of partitions for what comes next: each broker once at a time, and one that failed after a pause. */
export class Fetcher {
  readonly size = new FetchSize();
  readonly #options: FetcherOptions;
  /** Of its own: a broker answers what came over one connection in order, and a fetch waits for messages. */
  readonly #connections: ConnectionPool;
  readonly #busy = new Set<number>();
  readonly #backoffs = new Map<number, Backoff>();
  readonly #arrived: Arrival[] = [];

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#connections = new ConnectionPool(options.connection.clientId, options.connection);
  }

  take(): Arrival | undefined {
    return this.#arrived.shift();
  }

  /** Asks everybody who is not being asked already. Resolves, before they answer, with how many partitions the topic has. */
  async ask(leases: Iterable<Lease>, stop: AbortSignal): Promise<number | undefined> {
    const { consumer, topic } = this.#options;
    const known = (await consumer.metadata({ topics: [topic] })).topics.get(topic);
    if (known === undefined) return undefined;
    const byLeader = new Map<number, Wanted[]>();
    for (const lease of leases) {
      if (lease.next === undefined) continue;
      const leader = known.partitions[lease.partition]?.leader ?? -1;
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), { lease, offset: lease.next }]);
    }
    this.#noticeOrphans(byLeader);
    // All may answer at once. A batch that is larger than its share still comes, alone.
    const maxBytes = Math.ceil(this.size.bytes / Math.max(1, byLeader.size));
    for (const [node, wanted] of byLeader) {
      if (!this.#busy.has(node)) void this.#fetch({ node, topicId: known.id, wanted }, maxBytes, stop);
    }
    return known.partitionsCount;
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  /** Partitions without a leader wait, the others need not. */
  #noticeOrphans(byLeader: Map<number, Wanted[]>): void {
    const [orphan] = byLeader.get(-1) ?? [];
    if (orphan === undefined) return;
    byLeader.delete(-1);
    // Else the client would believe it for long.
    this.#options.consumer.clearMetadata();
    if (byLeader.size > 0) return;
    const because = `${this.#options.who}: ${orphan.lease.name} has no leader`;
    throw new KafkaError({ because, type: 'transient', isRetryable: true });
  }

  async #fetch(request: Request, maxBytes: number, stop: AbortSignal): Promise<void> {
    const { node, wanted } = request;
    const { who, log, consumer, changed } = this.#options;
    this.#busy.add(node);
    const { response, error } = await this.#send(request, maxBytes);
    this.#arrived.push({
      wanted,
      partitions: response?.responses.flatMap(({ partitions }) => partitions) ?? [],
      error,
    });
    changed();
    const backoff = this.#backoffOf(node);
    if (error === undefined) backoff.succeeded();
    else if (!stop.aborted) {
      const trouble = kafkaError(error, who);
      log.warn({ error: trouble.message, type: trouble.type }, 'reading failed, trying again');
      consumer.clearMetadata();
      await backoff.pause(stop);
    }
    this.#busy.delete(node);
    changed();
  }

  async #send(
    { node, topicId, wanted }: Request,
    maxBytes: number,
  ): Promise<{ readonly response: FetchResponse | undefined; readonly error: unknown }> {
    const partitions = wanted.map(({ lease, offset }) => ({
      partition: lease.partition,
      fetchOffset: BigInt(offset),
      partitionMaxBytes: maxBytes,
      currentLeaderEpoch: -1,
      lastFetchedEpoch: -1,
    }));
    try {
      const response = await this.#options.consumer.fetch({
        node,
        maxBytes,
        connectionPool: this.#connections,
        topics: [{ topicId, partitions }],
      });
      return { response, error: undefined };
    } catch (error) {
      // One partition in trouble makes an error of the whole answer; what the others brought is in it.
      return { response: responseIn(error), error };
    }
  }

  #backoffOf(node: number): Backoff {
    let backoff = this.#backoffs.get(node);
    if (backoff === undefined) {
      backoff = new Backoff(this.#options.clock, this.#options.random);
      this.#backoffs.set(node, backoff);
    }
    return backoff;
  }
}

function responseIn(error: unknown): FetchResponse | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  return isFetchResponse(error.response) ? error.response : undefined;
}

function isFetchResponse(response: unknown): response is FetchResponse {
  return (
    typeof response === 'object' && response !== null && 'responses' in response && Array.isArray(response.responses)
  );
}
