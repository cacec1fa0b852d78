/** What the suites of the Nessie connector share. */
import type { Clock } from '../../src/clock.ts';
import type { CheckpointStore } from '../../src/connector.ts';
import {
  NessieSink,
  type NessieSinkConfig,
  NessieSource,
  type NessieSourceConfig,
} from '../../src/connectors/nessie/index.ts';
import type { Logger } from '../../src/log.ts';
import type { Message, Metadata } from '../../src/message.ts';
import { Payload } from '../../src/payload.ts';

/** The time of the platform, but pauses between attempts last a hundredth. Deadlines of requests stay what they are. */
export const hasty: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const handle = setTimeout(callback, ms < 60_000 ? ms / 100 : ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Keeps what is said, so that a test can look for what must and must not be in it. */
export function memoryLog(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const say = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: say, info: say, warn: say, error: say };
}

export function memoryCheckpoints(): CheckpointStore & { readonly saved: Map<string, unknown> } {
  const saved = new Map<string, unknown>();
  return {
    saved,
    load: async (key) => saved.get(key),
    save: async (key, checkpoint) => void saved.set(key, checkpoint),
  };
}

export interface Place {
  readonly baseURL: string;
  readonly s3Endpoint: string;
  readonly accessKey?: string;
  readonly secretAccessKey?: string;
  readonly s3Region?: string;
}

function shared({
  baseURL,
  s3Endpoint,
  s3Region = 'us-east-1',
  accessKey = 'key',
  secretAccessKey = 'the-secret',
}: Place) {
  const where = { branch: 'main', namespace: 'shop', table: 'orders', authenticationType: 'AUTO' } as const;
  return { baseURL, s3Endpoint, s3Region, accessKey, secretAccessKey, ...where };
}

export function sinkConfig(place: Place, config: Partial<NessieSinkConfig> = {}): NessieSinkConfig {
  return {
    ...shared(place),
    batchSize: 100,
    batchFlushIntervalSeconds: 10,
    autoCreateTable: false,
    rawMode: false,
    flattenMetadataColumns: false,
    ...config,
  };
}

export function sourceConfig(place: Place, config: Partial<NessieSourceConfig> = {}): NessieSourceConfig {
  return { ...shared(place), pollInterval: 10, incrementalBySnapshot: false, snapshotCheckpoints: true, ...config };
}

export async function connectedSink(
  config: NessieSinkConfig,
  signal: AbortSignal,
  log: Logger = memoryLog(),
): Promise<NessieSink> {
  const sink = new NessieSink(config, { clock: hasty, random: Math.random, fetch, log });
  await sink.connect(signal);
  return sink;
}

export interface ReadOptions {
  readonly checkpoints?: CheckpointStore;
  readonly log?: Logger;
  /** Not committed: a crash. */
  readonly isCrashing?: boolean;
}

/** All there is to read now, in a run of its own; every batch is committed. */
export async function readAll(
  config: NessieSourceConfig,
  signal: AbortSignal,
  { checkpoints = memoryCheckpoints(), log = memoryLog(), isCrashing = false }: ReadOptions = {},
): Promise<readonly Message[]> {
  const source = new NessieSource(config, {
    clock: hasty,
    random: Math.random,
    fetch,
    log,
    checkpoints,
    isOneOff: true,
  });
  await source.connect(signal);
  const messages: Message[] = [];
  for await (const batch of source.read(signal)) {
    messages.push(...batch);
    const last = batch.at(-1);
    if (last && !isCrashing) await source.commit([last.origin]);
  }
  await source.close();
  return messages;
}

export const textsOf = (messages: readonly Message[]): string[] => messages.map(({ payload }) => payload?.text ?? '');

let sequence = 0;

/** A message as a source would make it; `body` is its text, or a value to print. */
export function message(body: unknown, metadata: Metadata = {}): Message {
  const payload = Payload.ofText(typeof body === 'string' ? body : JSON.stringify(body));
  return { payload, metadata, origin: { partition: 'test', sequence: sequence++, position: undefined, readAt: 0 } };
}

/** A column of a table, as a catalog writes it. */
export const column = (id: number, name: string, type: string, required = false) => ({ id, name, type, required });
