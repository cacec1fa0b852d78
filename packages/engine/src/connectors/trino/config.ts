import type { TrinoSinkSpec, TrinoSourceSpec } from '../../spec/index.ts';

/** `source.trino` of a flow, its secrets resolved. */
export type TrinoSourceConfig = TrinoSourceSpec;

/** `sink.trino` of a flow, its secrets resolved. How messages are gathered into batches is the pipeline's business. */
export type TrinoSinkConfig = Omit<TrinoSinkSpec, 'batchSize' | 'batchFlushIntervalSeconds'>;

export type KeycloakConfig = NonNullable<TrinoSinkSpec['keycloak']>;
