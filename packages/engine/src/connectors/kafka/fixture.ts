/** What the suites of the connector against a real Kafka share: messages, connectors, and reading until something is there. */
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

export const message = (text: string, sequence = 0, metadata: Message['metadata'] = {}): Message => ({
  payload: Payload.ofText(text),
  metadata,
  origin: { partition: 'test', sequence, position: sequence, readAt: 0 },
});

/** Numbers as values; the key is the number modulo `keys`. */
export const numbered = (from: number, count: number, keys: number): Message[] =>
  Array.from({ length: count }, (_, i) => message(String(from + i), from + i, { key: `key-${(from + i) % keys}` }));

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
