import type { CheckpointStore } from '../../src/connector.ts';
import {
  fetchOf,
  TrinoSink,
  type TrinoSinkConfig,
  TrinoSource,
  type TrinoSourceConfig,
} from '../../src/connectors/trino/index.ts';
import type { Failure, Message } from '../../src/message.ts';
import { realClock } from '../postgres/clock.ts';
import { type Line, memoryLog } from '../postgres/logs.ts';

export const never = new AbortController().signal;

export type Place = Pick<TrinoSinkConfig, 'serverURL' | 'catalog' | 'schema'>;

export function sinkOf(place: Place, config: Partial<TrinoSinkConfig> & { readonly table: string }) {
  const { log, lines } = memoryLog();
  const defaults = { autoCreateTable: false, rawMode: false, flattenMetadataColumns: false, upsertMode: false };
  const options = { fetch: fetchOf(config.tls), clock: realClock, random: Math.random, log };
  return { sink: new TrinoSink({ ...place, ...defaults, ...config }, options), lines };
}

/** Connects, writes one batch after the other, and says what became of them. */
export async function write(
  place: Place,
  config: Partial<TrinoSinkConfig> & { readonly table: string },
  ...batches: (readonly Message[])[]
): Promise<{ readonly failures: readonly Failure[]; readonly lines: readonly Line[] }> {
  const { sink, lines } = sinkOf(place, config);
  const failures: Failure[] = [];
  await sink.connect(never);
  for (const batch of batches) failures.push(...(await sink.write(batch, never)));
  await sink.close();
  return { failures, lines };
}

/** Keeps checkpoints as a file would: as text. */
export function memoryStore(checkpoint?: unknown): CheckpointStore & { saved: string | undefined } {
  return {
    saved: checkpoint === undefined ? undefined : JSON.stringify(checkpoint),
    load() {
      return Promise.resolve(this.saved === undefined ? undefined : JSON.parse(this.saved));
    },
    save(_key, value) {
      this.saved = JSON.stringify(value);
      return Promise.resolve();
    },
  };
}

export function sourceOf(
  place: Place,
  config: Partial<TrinoSourceConfig>,
  { checkpoints = memoryStore(), isOneOff = false }: { checkpoints?: CheckpointStore; isOneOff?: boolean } = {},
) {
  const { log, lines } = memoryLog();
  const source = new TrinoSource(
    { ...place, pollInterval: 1, readBatchSize: 0, orderByColumn: 'id', ...config },
    { fetch: fetchOf(config.tls), checkpoints, clock: realClock, random: () => 0, log, isOneOff },
  );
  return { source, lines };
}

/** Everything there is, read once; `commits` decides how much of it is committed. */
export async function readAll(
  place: Place,
  config: Partial<TrinoSourceConfig>,
  checkpoints: CheckpointStore = memoryStore(),
  commits = Number.MAX_SAFE_INTEGER,
): Promise<Message[]> {
  const { source } = sourceOf(place, config, { checkpoints, isOneOff: true });
  await source.connect(never);
  const messages: Message[] = [];
  for await (const batch of source.read(never)) messages.push(...batch);
  const committed = messages.slice(0, commits).at(-1);
  if (committed) await source.commit([committed.origin]);
  await source.close();
  return messages;
}

export const texts = (messages: readonly Message[]) => messages.map(({ payload }) => payload?.text);
export const ids = (messages: readonly Message[]) => messages.map(({ metadata }) => metadata['id']);
export const reasons = (failures: readonly Failure[]) => failures.map(({ because, type }) => `${type}: ${because}`);
