import type { Static } from 'typebox';
import { type Block, block, type Chosen, type Immutable, oneOf } from '../schema.ts';
import { kafkaSink, kafkaSource } from './kafka.ts';
import { nessieSink, nessieSource } from './nessie.ts';
import { postgresqlSink, postgresqlSource } from './postgresql.ts';
import { trinoSink, trinoSource } from './trino.ts';

const sources = { kafka: kafkaSource, postgresql: postgresqlSource, trino: trinoSource, nessie: nessieSource } as const;
const sinks = { kafka: kafkaSink, postgresql: postgresqlSink, trino: trinoSink, nessie: nessieSink } as const;

const sourceBlock: Block = { noun: 'source', variants: sources, fields: {} };
const sinkBlock: Block = { noun: 'sink', variants: sinks, fields: {} };
const errorSinkFields = {
  ackPolicy: oneOf(['afterWrite', 'never', 'afterMainSinkSuccess'], {
    default: 'afterWrite',
    description:
      'When the input of a failed message counts as done. afterWrite: when it is written here; else never, and it is read again after a restart.',
  }),
};
const errorSinkBlock: Block = { noun: 'sink', variants: sinks, fields: errorSinkFields };

type AnySource = Chosen<typeof sources>;
type AnySink = Chosen<typeof sinks>;
type AnyErrorSink = AnySink & { ackPolicy: Static<typeof errorSinkFields.ackPolicy> };

export const source = block<AnySource>(sourceBlock, { description: 'Where messages come from.' });
export const sink = block<AnySink>(sinkBlock, { description: 'Where messages go.' });
export const errorSink = block<AnyErrorSink>(errorSinkBlock, {
  description: 'Where messages go that could not be transformed or written, with the reason.',
});

export type SourceSpec = Immutable<AnySource>;
export type SinkSpec = Immutable<AnySink>;
export type ErrorSinkSpec = Immutable<AnyErrorSink>;

export { type KafkaSinkSpec, type KafkaSourceSpec, type SecurityProtocol, securityProtocolOf } from './kafka.ts';
export type { NessieSinkSpec, NessieSourceSpec } from './nessie.ts';
export type { PostgresqlSinkSpec, PostgresqlSourceSpec } from './postgresql.ts';
export type { TrinoSinkSpec, TrinoSourceSpec } from './trino.ts';
