/** What is in a Kafka, seen by the client alone: topics, their records as they are on the wire, and what groups have committed. */
import { Admin, Consumer, type MessageToProduce, Producer } from '@platformatic/kafka';

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

export async function produceRaw(broker: string, messages: MessageToProduce[]): Promise<void> {
  // Idempotent: what is sent again because its answer came late is not stored again.
  const producer = new Producer({
    clientId: 'test',
    bootstrapBrokers: [broker],
    idempotent: true,
    producerId: -1n,
    producerEpoch: -1,
  });
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

/** How many messages of a topic the group has still to commit. */
export async function lagOf(broker: string, group: string, topic: string): Promise<number> {
  const ends = await endsOf(broker, topic);
  const offsets = await committed(broker, group, topic, ends.length);
  return ends.reduce((lag, end, partition) => lag + end - Math.max(0, offsets[partition] ?? 0), 0);
}

/** Where each partition of a topic ends. */
export async function endsOf(broker: string, topic: string): Promise<number[]> {
  const consumer = new Consumer({ clientId: 'test', bootstrapBrokers: [broker], groupId: `ends-${topic}` });
  try {
    return ((await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? []).map(Number);
  } finally {
    await consumer.close(true);
  }
}
