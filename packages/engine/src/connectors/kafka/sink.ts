import type { MessageToProduce } from '@platformatic/kafka';
import type { Sink } from '../../connector.ts';
import type { Failure, Message } from '../../message.ts';
import { unlessAborted } from '../../waiting.ts';
import { afterwards } from './aftermath.ts';
import { CLIENT_ID, type KafkaSinkConfig } from './config.ts';
import { LeanProducer } from './lean-clients.ts';
import { type Outgoing, outgoing, Partitioner } from './partitioning.ts';
import { type Fate, fatesIn } from './produced.ts';
import { securityOptions } from './security.ts';
import { KafkaError, kafkaError, type Trouble, troubleOf } from './trouble.ts';

/** The client's own attempts keep the sequence numbers, so that a broker which had stored a batch already knows it again. */
const ATTEMPTS = 12;
/** A topic that is just being made has no leaders for a moment. */
const CONNECT_ATTEMPTS = 4;
const retryDelay = (_client: object, _operation: string, attempt: number) => Math.min(100 * 2 ** (attempt - 1), 2_000);
const METADATA_MS = 60_000;
const REQUEST_MS = 30_000;

/** Headers may be null, like keys and values. */
type HeaderValue = Buffer | null;

export interface KafkaSinkOptions {
  readonly config: KafkaSinkConfig;
}

/**
 * Writes to a topic: the payload is the value (none: a tombstone), `key` and `headers` come from the metadata, the partition
 * from the key. Written means stored by all replicas in sync. Within a partition, order is kept: where a batch fails but may
 * be tried again, nothing behind it is written either.
 */
export class KafkaSink implements Sink {
  readonly #topic: string;
  readonly #who: string;
  readonly #producer: LeanProducer<Buffer, Buffer, Buffer, HeaderValue>;
  readonly #partitioner = new Partitioner();
  /** The last write, however it ended. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor({ config }: KafkaSinkOptions) {
    this.#topic = config.topic;
    this.#who = `kafka ${config.brokers.join(',')}`;
    this.#producer = new LeanProducer({
      ...securityOptions(config),
      clientId: CLIENT_ID,
      bootstrapBrokers: [...config.brokers],
      idempotent: true,
      // "None yet". The client would ask for a renewal of the id 0.
      producerId: -1n,
      producerEpoch: -1,
      compression: 'lz4',
      autocreateTopics: true,
      metadataMaxAge: METADATA_MS,
      requestTimeout: REQUEST_MS,
      retries: ATTEMPTS,
      retryDelay,
      serializers: { headerValue: (value) => value ?? undefined },
    });
  }

  async connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      // Fails at once where writing would try for long.
      await unlessAborted(this.#producer.metadata({ topics: [], retries: 0 }), signal);
      await unlessAborted(this.#partitionCount(CONNECT_ATTEMPTS), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw kafkaError(error, this.#who);
    }
  }

  write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    // One after the other, also after one that was given up on: it can't be called back, and what comes now must not
    // overtake it.
    const writing = this.#last.then(() => this.#write(batch, signal));
    this.#last = writing.catch(() => {});
    return unlessAborted(writing, signal);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#last;
    await Promise.allSettled([this.#producer.close()]);
  }

  async #write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    signal.throwIfAborted();
    let partitions: number;
    try {
      partitions = await this.#partitionCount();
    } catch (error) {
      throw kafkaError(error, this.#who);
    }
    const left = this.#partitioner.spread(batch.map(outgoing), partitions);
    const failures: Failure[] = [];
    // One batch of each partition at a time: the next one goes when it is known what became of it.
    while (left.size > 0) {
      signal.throwIfAborted();
      const round = [...left].flatMap(([partition, [first]]) => (first ? [{ partition, messages: first }] : []));
      const { fateOf, trouble } = await this.#send(round);
      for (const { partition } of round) {
        const rest = afterwards(left.get(partition) ?? [], fateOf(partition), trouble, failures);
        if (rest.length === 0) left.delete(partition);
        else left.set(partition, rest);
      }
    }
    return failures;
  }

  async #send(round: readonly Round[]): Promise<Outcome> {
    const messages = round.flatMap(({ partition, messages }) => messages.map((one) => this.#toProduce(one, partition)));
    try {
      await this.#producer.send({ messages });
      return { fateOf: () => ({ is: 'written' }), trouble: NO_TROUBLE };
    } catch (error) {
      return { fateOf: fatesIn(error), trouble: troubleOf(error, this.#who) };
    }
  }

  #toProduce(
    { key, value, headers }: Outgoing,
    partition: number,
  ): MessageToProduce<Buffer, Buffer, Buffer, HeaderValue> {
    return {
      topic: this.#topic,
      partition,
      ...(key && { key }),
      ...(value && { value }),
      ...(headers && { headers }),
    };
  }

  async #partitionCount(retries = ATTEMPTS): Promise<number> {
    const metadata = await this.#producer.metadata({ topics: [this.#topic], retries });
    const count = metadata.topics.get(this.#topic)?.partitionsCount ?? 0;
    if (count > 0) return count;
    throw new KafkaError({
      because: `${this.#who}: the topic ${this.#topic} has no partitions`,
      type: 'transient',
      isRetryable: true,
    });
  }
}

interface Round {
  readonly partition: number;
  readonly messages: readonly Outgoing[];
}

interface Outcome {
  readonly fateOf: (partition: number) => Fate;
  /** Why something was not written. */
  readonly trouble: Trouble;
}

const NO_TROUBLE: Trouble = { because: '', type: 'unknown', isRetryable: true };
