import type { Clock } from '../clock.ts';
import type { CheckpointStore, Sink, Source } from '../connector.ts';
import type { Logger } from '../log.ts';
import type { Batching } from '../pipeline/index.ts';
import type { SinkSpec, SourceSpec } from '../spec/index.ts';
import { KafkaSink, KafkaSource } from './kafka/index.ts';
import { NessieSink, NessieSource } from './nessie/index.ts';
import { PostgresSink, PostgresSource } from './postgresql/index.ts';
import { TrinoSink, TrinoSource } from './trino/index.ts';

/** What connectors are given of the world around them. */
export interface Surroundings {
  readonly checkpoints: CheckpointStore;
  readonly clock: Clock;
  /** 0 <= r < 1. */
  readonly random: () => number;
  readonly log: Logger;
}

export function sourceOf(spec: SourceSpec, surroundings: Surroundings): Source {
  switch (spec.type) {
    case 'kafka':
      return new KafkaSource({ config: spec.config, ...surroundings });
    case 'postgresql':
      return new PostgresSource(spec.config, surroundings);
    case 'trino':
      return new TrinoSource(spec.config, { ...surroundings, fetch });
    case 'nessie':
      return new NessieSource(spec.config, { ...surroundings, fetch });
  }
}

export function sinkOf(spec: SinkSpec, surroundings: Surroundings): Sink {
  switch (spec.type) {
    case 'kafka':
      return new KafkaSink({ config: spec.config });
    case 'postgresql':
      return new PostgresSink(spec.config, surroundings.log);
    case 'trino':
      return new TrinoSink(spec.config, { ...surroundings, fetch });
    case 'nessie':
      return new NessieSink(spec.config, { ...surroundings, fetch });
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
