import type { ConsumerOptions } from '@platformatic/kafka';
import type { AvroDecoder, Decoded } from '../../avro/index.ts';
import type { Clock } from '../../clock.ts';
import type { ReadEvents, Source } from '../../connector.ts';
import type { Logger } from '../../log.ts';
import type { Failure, Message, Origin } from '../../message.ts';
import { Payload } from '../../payload.ts';
import { unlessAborted } from '../../waiting.ts';
import { type Lease, Position } from './assignment.ts';
import { Backoff } from './backoff.ts';
import { CLIENT_ID, type KafkaSourceConfig } from './config.ts';
import { type Arrival, Fetcher } from './fetcher.ts';
import { decoderOf } from './format.ts';
import { Group } from './group.ts';
import { LeanConsumer } from './lean-clients.ts';
import { type KafkaMessage, readRecords } from './records.ts';
import { securityOptions } from './security.ts';
import { KafkaError, kafkaError, saysAnyOf } from './trouble.ts';

const DEFAULT_GROUP = 'dataflow-operator';

/** How long a broker waits for the first message: heartbeats have their own connection, so it holds up nothing. */
const LONGEST_WAIT_MS = 500;

const SESSION_MS = 10_000;
const REBALANCE_MS = 30_000;
/** To join takes until the others have joined too, so an answer may come this late. */
const REQUEST_MS = REBALANCE_MS + 5_000;
/** How soon a topic's new partitions are seen. */
const METADATA_MS = 10_000;
const COMMIT_ATTEMPTS = 8;

const EARLIEST = -2n;
const OFFSET_OUT_OF_RANGE = 1;

/** Answers to a commit that say: the group has moved on. */
const MOVED_ON = ['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID'];

export interface KafkaSourceOptions {
  readonly config: KafkaSourceConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Reads a topic as a member of a consumer group, from where the group has committed, else from the oldest message on. It asks
 * brokers when somebody asks it, so that nothing piles up here; and it commits nothing but what was handed in.
 */
export class KafkaSource implements Source {
  readonly #config: KafkaSourceConfig;
  readonly #options: KafkaSourceOptions;
  readonly #who: string;
  readonly #consumer: LeanConsumer<Buffer, Buffer, Buffer, Buffer>;
  readonly #decoder: AvroDecoder | undefined;
  readonly #fetcher: Fetcher;
  readonly #backoff: Backoff;
  readonly #group: Group;
  /** Counts on over all leases of a partition, so that it never repeats itself. */
  readonly #sequences = new Map<string, number>();
  readonly #closing = new AbortController();
  #events: ReadEvents | undefined;
  #wake = () => {};
  /** So many the topic had when we joined last. */
  #partitionCount: number | undefined;

  constructor(options: KafkaSourceOptions) {
    const { config, clock, random, log } = options;
    this.#options = options;
    this.#config = config;
    this.#who = `kafka ${config.brokers.join(',')}`;
    this.#decoder = decoderOf(config, options);
    const connection = { ...securityOptions(config), clientId: CLIENT_ID, requestTimeout: REQUEST_MS };
    const consumer: ConsumerOptions<Buffer, Buffer, Buffer, Buffer> = {
      ...connection,
      bootstrapBrokers: [...config.brokers],
      groupId: config.consumerGroup || DEFAULT_GROUP,
      autocommit: false,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: REBALANCE_MS,
      maxWaitTime: LONGEST_WAIT_MS,
      metadataMaxAge: METADATA_MS,
      autocreateTopics: true,
      // With retries of its own, the client answers "the group has moved on" to a commit by joining again and committing the
      // same offsets in the new generation, for partitions that may be somebody else's by then.
      retries: 0,
    };
    this.#consumer = new LeanConsumer(consumer);
    this.#backoff = new Backoff(clock, random);
    this.#fetcher = new Fetcher({
      consumer: this.#consumer,
      connection,
      topic: config.topic,
      who: this.#who,
      clock,
      random,
      log,
      changed: () => this.#wake(),
    });
    this.#group = new Group({
      consumer: this.#consumer,
      topic: config.topic,
      who: this.#who,
      backoff: new Backoff(clock, random),
      log,
      changed: () => this.#wake(),
      lost: (leases) => this.#events?.revoked(leases.map(({ name }) => name)),
    });
  }

  async connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await unlessAborted(this.#findTopic(signal), signal);
    await unlessAborted(this.#group.join(signal), signal);
  }

  async *read(signal: AbortSignal, events: ReadEvents): AsyncIterable<readonly (Message | Failure)[]> {
    this.#events = events;
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    let isRung = false;
    let ring = () => {};
    this.#wake = () => {
      isRung = true;
      ring();
    };
    stop.addEventListener('abort', this.#wake);
    try {
      while (!stop.aborted) {
        if (this.#group.refusal) throw this.#group.refusal;
        isRung = false;
        for (let arrival = this.#fetcher.take(); arrival !== undefined; arrival = this.#fetcher.take()) {
          const inputs = await this.#inputsOf(arrival, stop);
          if (inputs.length > 0) yield inputs;
        }
        try {
          await this.#locate([...this.#group.leases.values()].filter(({ next }) => next === undefined));
          this.#noticeGrowth(await this.#fetcher.ask(this.#group.leases.values(), stop));
        } catch (error) {
          await this.#mend(error, stop);
          continue;
        }
        if (!isRung && !stop.aborted) await new Promise<void>((resolve) => (ring = resolve));
      }
    } finally {
      stop.removeEventListener('abort', this.#wake);
      this.#events = undefined;
    }
  }

  async commit(origins: readonly Origin[]): Promise<void> {
    const backoff = new Backoff(this.#options.clock, this.#options.random);
    for (;;) {
      const ours = origins.flatMap(({ position }) =>
        position instanceof Position && this.#group.owns(position.lease) ? [position] : [],
      );
      if (ours.length === 0) return;
      try {
        // While it rebalances, the group takes no commits; afterwards we know better what is ours.
        if (!this.#group.isRebalancing) return await this.#commit(ours);
      } catch (error) {
        const trouble = kafkaError(error, this.#who);
        const isOver = !trouble.isRetryable && !saysAnyOf(error, MOVED_ON);
        if (isOver || backoff.failures >= COMMIT_ATTEMPTS || this.#closing.signal.aborted) throw trouble;
      }
      if (backoff.failures >= COMMIT_ATTEMPTS) {
        throw new KafkaError({
          because: `${this.#who}: the group ${this.#consumer.groupId} did not come to rest, so nothing could be committed`,
          type: 'transient',
          isRetryable: true,
        });
      }
      await backoff.pause(this.#closing.signal);
    }
  }

  describe({ partition, position }: Origin): string {
    return position instanceof Position ? position.toString() : partition;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#group.close();
    // Leaving fails where the broker is away; the session then ends by itself.
    await Promise.allSettled([this.#consumer.close(true), this.#fetcher.close()]);
  }

  async #commit(positions: readonly Position[]): Promise<void> {
    await this.#consumer.commit({
      offsets: positions.map(({ lease: { topic, partition }, offset }) => ({
        topic,
        partition,
        offset: BigInt(offset + 1),
        leaderEpoch: -1,
      })),
    });
  }

  /** A topic that is just being made has no leaders for a moment. */
  async #findTopic(signal: AbortSignal): Promise<void> {
    const { topic } = this.#config;
    for (;;) {
      try {
        const metadata = await this.#consumer.metadata({ topics: [topic] });
        this.#partitionCount = metadata.topics.get(topic)?.partitionsCount;
        this.#backoff.succeeded();
        return;
      } catch (error) {
        const isNew = saysAnyOf(error, ['LEADER_NOT_AVAILABLE', 'UNKNOWN_TOPIC_OR_PARTITION']) || isUnknownTopic(error);
        if (!isNew || this.#backoff.failures > 4) throw kafkaError(error, this.#who);
        await this.#backoff.pause(signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Where to begin with partitions that are new to us. */
  async #locate(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const { topic } = this.#config;
    const partitions = leases.map(({ partition }) => partition);
    const committed = (await this.#consumer.listCommittedOffsets({ topics: [{ topic, partitions }] })).get(topic);
    const fresh = partitions.filter((partition) => (committed?.[partition] ?? -1n) < 0n);
    const earliest = await this.#earliest(fresh);
    for (const lease of leases) {
      const at = committed?.[lease.partition] ?? -1n;
      lease.next = at >= 0n ? Number(at) : earliest.get(lease.partition);
    }
  }

  async #earliest(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    if (partitions.length === 0) return new Map();
    const { topic } = this.#config;
    const offsets = await this.#consumer.listOffsets({
      topics: [topic],
      partitions: { [topic]: [...partitions] },
      timestamp: EARLIEST,
    });
    return new Map(partitions.map((partition) => [partition, Number(offsets.get(topic)?.[partition] ?? 0n)]));
  }

  /** Whoever leads the group hands out new partitions when it joins again. */
  #noticeGrowth(count: number | undefined): void {
    if (count === undefined) return;
    if (this.#partitionCount !== undefined && count > this.#partitionCount) {
      void this.#group.rejoin(new Error(`${this.#config.topic} has ${count} partitions now`));
    }
    this.#partitionCount = count;
  }

  async #inputsOf({ wanted, partitions, error }: Arrival, stop: AbortSignal): Promise<readonly (Message | Failure)[]> {
    const asked = new Map(wanted.map((one) => [one.lease.partition, one]));
    const inputs: (Message | Failure)[] = [];
    const outOfRange: Lease[] = [];
    const readAt = this.#options.clock.now();
    let brought = 0;
    for (const fetched of partitions) {
      const { lease, offset } = asked.get(fetched.partitionIndex) ?? {};
      // Lost since it was asked for, or something that the broker was not told to forget.
      if (lease === undefined || offset === undefined || !this.#group.owns(lease) || lease.next !== offset) continue;
      if (fetched.errorCode === OFFSET_OUT_OF_RANGE) outOfRange.push(lease);
      if (fetched.errorCode !== 0) continue;
      const { messages, next, bytes } = readRecords(fetched, offset);
      await this.#append(inputs, lease, messages, readAt, stop);
      lease.next = next;
      brought += bytes;
    }
    this.#fetcher.size.brought(brought);
    if (outOfRange.length > 0) await this.#startOver(outOfRange, stop);
    else if (error !== undefined && !stop.aborted) throwIfRefused(error, this.#who);
    return inputs;
  }

  async #append(
    inputs: (Message | Failure)[],
    lease: Lease,
    records: readonly KafkaMessage[],
    readAt: number,
    stop: AbortSignal,
  ): Promise<void> {
    const decoder = this.#decoder;
    let sequence = this.#sequences.get(lease.name) ?? 0;
    for (const { value, offset, key, timestamp, headers } of records) {
      const { topic, partition, name } = lease;
      const message: Message = {
        payload: value === null ? null : Payload.ofBytes(value),
        metadata: { topic, partition, offset, key, timestamp, headers },
        origin: { partition: name, sequence: sequence++, position: new Position(lease, offset), readAt },
      };
      if (decoder === undefined || value === null) inputs.push(message);
      else {
        // Nearly always at once: only a schema that is new has to be asked for.
        const decoded = decoder.decode(value, stop);
        inputs.push(inputOf(message, decoded instanceof Promise ? await decoded : decoded));
      }
    }
    this.#sequences.set(lease.name, sequence);
  }

  /** What was to be read next is gone (retention, or a topic that was made anew): the oldest that is left comes next. */
  async #startOver(leases: readonly Lease[], stop: AbortSignal): Promise<void> {
    try {
      const earliest = await this.#earliest(leases.map(({ partition }) => partition));
      for (const lease of leases) {
        const next = earliest.get(lease.partition);
        this.#options.log.warn({ partition: lease.name, from: lease.next, to: next }, 'messages are gone, reading on');
        lease.next = next;
      }
    } catch (error) {
      await this.#mend(error, stop);
    }
  }

  /** Waits, and forgets what may be stale. Throws what no waiting mends. */
  async #mend(error: unknown, stop: AbortSignal): Promise<void> {
    if (stop.aborted) return;
    const trouble = throwIfRefused(error, this.#who);
    this.#options.log.warn({ error: trouble.message, type: trouble.type }, 'reading failed, trying again');
    this.#consumer.clearMetadata();
    await this.#backoff.pause(stop);
  }
}

function inputOf(message: Message, decoded: Decoded): Message | Failure {
  if (decoded.ok) return { ...message, payload: Payload.ofText(decoded.text) };
  return { message, because: decoded.because, type: 'invalid_data', isRetryable: false };
}

/** What no waiting mends. */
function throwIfRefused(error: unknown, who: string): KafkaError {
  const trouble = kafkaError(error, who);
  if (trouble.type === 'auth_error') throw trouble;
  return trouble;
}

const isUnknownTopic = (error: unknown) => error instanceof Error && error.message.startsWith('Unknown topic');
