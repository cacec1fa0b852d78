import { type MessageToProduce, Producer } from '@platformatic/kafka';
import type { Sink } from '../../connector.ts';
import type { ErrorType, Failure, Message } from '../../message.ts';
import { unlessAborted } from './abort.ts';
import type { KafkaSinkConfig } from './config.ts';
import { type Outgoing, outgoing, Partitioner } from './partitioning.ts';
import { type Fate, fatesIn } from './produced.ts';
import { securityOptions } from './security.ts';
import { CLIENT_ID } from './source.ts';
import { KafkaError, kafkaError, type Trouble, troubleOf } from './trouble.ts';

/** The client's own attempts keep the sequence numbers, so that a broker which had stored a batch already knows it again. */
const ATTEMPTS = 12;
/** A topic that is just being made has no leaders for a moment. */
const CONNECT_ATTEMPTS = 4;
const retryDelay = (_client: object, _operation: string, attempt: number) => Math.min(100 * 2 ** (attempt - 1), 2_000);
const METADATA_MS = 60_000;
const REQUEST_MS = 30_000;

/** Refusals that one message of a batch brings upon all of it. */
const FOR_ONE_MESSAGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

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
  readonly #producer: Producer<Buffer, Buffer, Buffer, HeaderValue>;
  readonly #partitioner = new Partitioner();
  /** The last write, however it ended. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor({ config }: KafkaSinkOptions) {
    this.#topic = config.topic;
    this.#who = `kafka ${config.brokers.join(',')}`;
    this.#producer = new Producer({
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

/** What is still to be written of a partition once the fate of its first batch is known. What is not, goes to the failures. */
function afterwards(batches: Outgoing[][], fate: Fate, trouble: Trouble, failures: Failure[]): Outgoing[][] {
  const [first = [], ...rest] = batches;
  if (fate.is === 'written') return rest;
  const isForOne = fate.is === 'refused' && FOR_ONE_MESSAGE.has(fate.code);
  if (isForOne && first.length > 1) {
    const half = Math.ceil(first.length / 2);
    return [first.slice(0, half), first.slice(half), ...rest];
  }
  if (isForOne) {
    failures.push(...first.map(({ message, bytes }) => refusal(message, fate.code, fate.because, bytes)));
    return rest;
  }
  const failure = fate.is === 'unknown' ? trouble : { ...trouble, because: `${trouble.because} (${fate.code})` };
  // Also what was not tried: written after what is tried again, it would overtake it.
  for (const { message } of [first, ...rest].flat()) failures.push({ message, ...failure });
  return [];
}

function refusal(message: Message, code: string, said: string, bytes: number): Failure {
  const isTooLarge = code.endsWith('TOO_LARGE');
  const because = isTooLarge
    ? `the message is too large for the topic (about ${bytes} bytes; see max.message.bytes)`
    : `the broker refused the message (${code}${said === '' ? '' : `: ${said}`})`;
  const type: ErrorType = 'invalid_data';
  return { message, because, type, isRetryable: false };
}
