import type { Clock } from '../clock.ts';
import type { CheckpointStore, Sink, Source } from '../connector.ts';
import type { Logger } from '../log.ts';
import type { Batching } from '../pipeline/index.ts';
import type { SinkSpec, SourceSpec } from '../spec/index.ts';

/** What connectors are given of the world around them. */
export interface Surroundings {
  readonly checkpoints: CheckpointStore;
  readonly clock: Clock;
  /** 0 <= r < 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** Loads the connector that is named, and no other: their clients are most of what a processor takes in memory. */
export async function sourceOf(spec: SourceSpec, surroundings: Surroundings): Promise<Source> {
  switch (spec.type) {
    case 'kafka': {
      const { KafkaSource } = await import('./kafka/index.ts');
      return new KafkaSource({ config: spec.config, ...surroundings });
    }
    case 'postgresql': {
      const { PostgresSource } = await import('./postgresql/index.ts');
      return new PostgresSource(spec.config, surroundings);
    }
    case 'trino': {
      const { fetchOf, TrinoSource } = await import('./trino/index.ts');
      return new TrinoSource(spec.config, { ...surroundings, fetch: fetchOf(spec.config.tls) });
    }
    case 'nessie': {
      const { NessieSource } = await import('./nessie/index.ts');
      return new NessieSource(spec.config, { ...surroundings, fetch });
    }
  }
}

export async function sinkOf(spec: SinkSpec, surroundings: Surroundings): Promise<Sink> {
  switch (spec.type) {
    case 'kafka': {
      const { KafkaSink } = await import('./kafka/index.ts');
      return new KafkaSink({ config: spec.config });
    }
    case 'postgresql': {
      const { PostgresSink } = await import('./postgresql/index.ts');
      return new PostgresSink(spec.config, surroundings.log);
    }
    case 'trino': {
      const { fetchOf, TrinoSink } = await import('./trino/index.ts');
      return new TrinoSink(spec.config, { ...surroundings, fetch: fetchOf(spec.config.tls) });
    }
    case 'nessie': {
      const { NessieSink } = await import('./nessie/index.ts');
      return new NessieSink(spec.config, { ...surroundings, fetch });
    }
  }
}

/** However long their texts, a batch is no larger than this. */
const BATCH_BYTES = 4 << 20;

/** A broker takes what there is: a batch waits only for what comes at the same moment. */
const KAFKA_BATCHING: Batching = { size: 500, bytes: 1 << 20, flushIntervalMs: 5 };

export function batchingOf(spec: SinkSpec): Batching {
  if (spec.type === 'kafka') return KAFKA_BATCHING;
  const { batchSize, batchFlushIntervalSeconds } = spec.config;
  return { size: batchSize, bytes: BATCH_BYTES, flushIntervalMs: batchFlushIntervalSeconds * 1_000 };
}
