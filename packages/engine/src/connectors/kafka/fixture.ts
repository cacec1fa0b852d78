/** What the suites against a real Kafka share: topics, records as they are on the wire, and reading until something is there. */
import { Admin, Consumer, type MessageToProduce, Producer } from '@platformatic/kafka';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Failure, Message, Origin } from '../../message.ts';
import { Payload } from '../../payload.ts';
import type { KafkaSourceConfig } from './config.ts';
import { KafkaSink } from './sink.ts';
import { KafkaSource } from './source.ts';

export const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const handle = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Keeps what is said, so that a test can look for what must not be in it. */
export function memoryLog(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const say = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: say, info: say, warn: say, error: say };
}

export function sourceOf(config: KafkaSourceConfig, log: Logger = memoryLog()): KafkaSource {
  return new KafkaSource({ config, clock, random: Math.random, log });
}

export async function connectedSource(config: KafkaSourceConfig, signal: AbortSignal): Promise<KafkaSource> {
  const source = sourceOf(config);
  await source.connect(signal);
  return source;
}

export async function connectedSink(broker: string, topic: string, signal: AbortSignal): Promise<KafkaSink> {
  const sink = new KafkaSink({ config: { brokers: [broker], topic } });
  await sink.connect(signal);
  return sink;
}

let topics = 0;

/** A fresh topic. */
export async function createTopic(
  broker: string,
  partitions: number,
  configs: Readonly<Record<string, string>> = {},
): Promise<string> {
  const topic = `t${process.pid}-${Date.now()}-${topics++}`;
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker] });
  const list = Object.entries(configs).map(([name, value]) => ({ name, value }));
  await admin.createTopics({ topics: [topic], partitions, replicas: 1, configs: list });
  await admin.close();
  return topic;
}

export const message = (text: string, sequence = 0, metadata: Message['metadata'] = {}): Message => ({
  payload: Payload.ofText(text),
  metadata,
  origin: { partition: 'test', sequence, position: sequence, readAt: 0 },
});

/** Numbers as values; the key is the number modulo `keys`. */
export const numbered = (from: number, count: number, keys: number): Message[] =>
  Array.from({ length: count }, (_, i) => message(String(from + i), from + i, { key: `key-${(from + i) % keys}` }));

export async function produceRaw(broker: string, messages: MessageToProduce[]): Promise<void> {
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [broker] });
  await producer.send({ messages, acks: -1 });
  await producer.close();
}

export interface RawRecord {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [Buffer, Buffer | null])[];
}

/** Everything that is in a topic, in the order of its partitions, read by the client alone. */
export async function readAll(broker: string, topic: string): Promise<readonly RawRecord[]> {
  const consumer = new Consumer({
    clientId: 'test',
    bootstrapBrokers: [broker],
    groupId: `reader-${topic}-${topics++}`,
  });
  try {
    const ends = (await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? [];
    const stream = await consumer.consume({
      topics: [topic],
      mode: 'earliest',
      fallbackMode: 'earliest',
      autocommit: false,
    });
    const records: RawRecord[] = [];
    const isDone = () =>
      ends.every(
        (end, at) => end === 0n || records.some(({ partition, offset }) => partition === at && offset === end - 1n),
      );
    if (!isDone()) {
      for await (const { partition, offset, key, value, headerEntries } of stream) {
        records.push({ partition, offset, key: key ?? null, value: value ?? null, headers: headerEntries });
        if (offset === (ends[partition] ?? 0n) - 1n && isDone()) break;
      }
    }
    return records.toSorted((a, b) => a.partition - b.partition || Number(a.offset - b.offset));
  } finally {
    await consumer.close(true);
  }
}

/** What the group has committed, by partition; -1 is nothing. */
export async function committed(broker: string, group: string, topic: string, partitions: number): Promise<number[]> {
  const consumer = new Consumer({ clientId: 'test', bootstrapBrokers: [broker], groupId: group });
  try {
    const wanted = Array.from({ length: partitions }, (_, at) => at);
    const offsets = await consumer.listCommittedOffsets({ topics: [{ topic, partitions: wanted }] });
    return wanted.map((at) => Number(offsets.get(topic)?.[at] ?? -1n));
  } finally {
    await consumer.close(true);
  }
}

export const isMessage = (input: Message | Failure): input is Message => 'origin' in input;

/** Reads until `count` inputs came. */
export async function take(source: KafkaSource, count: number, signal: AbortSignal): Promise<(Message | Failure)[]> {
  const inputs: (Message | Failure)[] = [];
  if (count === 0) return inputs;
  for await (const batch of source.read(signal, { revoked() {} })) {
    inputs.push(...batch);
    if (inputs.length >= count) break;
  }
  return inputs;
}

/** The last of each partition: what a pipeline would commit once everything is written. */
export function lastOf(inputs: readonly (Message | Failure)[]): Origin[] {
  const last = new Map<string, Origin>();
  for (const input of inputs) {
    const { origin } = isMessage(input) ? input : input.message;
    last.set(origin.partition, origin);
  }
  return [...last.values()];
}
