import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { SinkSpec } from './connectors/index.ts';
import { describeErrors } from './field-error.ts';
import type { FlowSpec } from './flow.ts';
import { normalise } from './normalise.ts';
import { joinSecrets, secretRefsOf } from './secrets.ts';
import { aFlow, anyFlow, kafkaSource } from './test-flows.ts';
import type { TransformationConfig } from './transformations/index.ts';
import { validate } from './validate.ts';

function normalised(spec: unknown): FlowSpec {
  const outcome = normalise(spec);
  if (!outcome.isValid) throw new Error(describeErrors(outcome.errors));
  return outcome.spec;
}

const SMALLEST = {
  source: { type: 'kafka', kafka: { brokers: ['k:9092'], topic: 'in' } },
  sink: { type: 'postgresql', postgresql: { connectionString: 'postgres://u:p@h/db', table: 't' } },
};

test('the smallest flow gets every default', () => {
  expect(normalised(SMALLEST)).toEqual({
    source: {
      type: 'kafka',
      config: { brokers: ['k:9092'], topic: 'in', consumerGroup: 'dataflow-operator', format: 'json' },
    },
    sink: {
      type: 'postgresql',
      config: {
        connectionString: 'postgres://u:p@h/db',
        table: 't',
        batchSize: 1,
        batchFlushIntervalSeconds: 10,
        autoCreateTable: false,
        rawMode: false,
        flattenMetadataColumns: false,
        upsertMode: false,
        upsertStrategy: 'always',
      },
    },
    transformations: [],
    resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    replicas: 1,
    terminationGracePeriodSeconds: 600,
    channelBufferSize: 100,
    ackGranularity: 'batch',
    checkpointPersistence: true,
    checkpointSyncOnAck: false,
    checkpointSaveInterval: '30s',
    checkpointReset: false,
    strictIdempotency: false,
  });
});

describe('defaults of the connectors', () => {
  const source = (type: string, config: unknown) => normalised(aFlow({ source: { type, config } })).source.config;
  const sink = (type: string, config: unknown) => normalised(aFlow({ sink: { type, config } })).sink.config;
  const trino = { serverURL: 'http://t', catalog: 'c', schema: 's', table: 't' };
  const nessie = { baseURL: 'http://n', namespace: 'n', table: 't' };

  test.each([
    [
      source('postgresql', { connectionString: 'c', table: 't' }),
      { pollInterval: 5, readBatchSize: 0, autoCreateTable: false },
    ],
    [source('trino', trino), { pollInterval: 5, orderByColumn: 'id' }],
    [
      source('nessie', nessie),
      {
        pollInterval: 10,
        branch: 'main',
        authenticationType: 'AUTO',
        incrementalBySnapshot: false,
        snapshotCheckpoints: true,
      },
    ],
    [sink('trino', trino), { batchSize: 1, batchFlushIntervalSeconds: 10, upsertMode: false }],
    [sink('nessie', nessie), { batchSize: 100, batchFlushIntervalSeconds: 10, branch: 'main' }],
  ])('%#', (config, expected) => {
    expect(config).toMatchObject(expected);
  });

  test('a query is read in steps only if a column is given, so there is no default for it', () => {
    expect(source('postgresql', { connectionString: 'c', query: 'SELECT 1' })).not.toHaveProperty(
      'changeTrackingColumn',
    );
  });
});

test('a resources block that is given replaces all of the default', () => {
  expect(normalised(aFlow({ resources: { requests: { cpu: 1 } } })).resources).toEqual({ requests: { cpu: 1 } });
});

test('words are in one spelling, empty texts and nulls are gone', () => {
  const kafka = { ...kafkaSource.kafka, securityProtocol: 'ssl', tls: { caFile: '' }, format: '', avroSchema: null };
  const { source, transformations } = normalised({
    source: { type: 'kafka', kafka },
    sink: SMALLEST.sink,
    transformations: [{ type: 'cast', cast: { spec: { a: 'int64', b: null } } }, { type: 'debeziumUnwrap' }],
  });
  expect(source.config).toEqual({
    ...kafkaSource.kafka,
    format: 'json',
    securityProtocol: 'SSL',
    tls: { insecureSkipVerify: false },
  });
  expect(transformations).toEqual([
    { type: 'cast', config: { spec: { a: 'int64', b: 'null' } } },
    {
      type: 'debeziumUnwrap',
      config: {
        inferDeleteFromTombstone: false,
        includeSourceInMetadata: false,
        snapshotOperation: 'insert',
        addOperationFields: false,
      },
    },
  ]);
});

test('a secret that nobody has read is an error, and its literal, if there is one, will do', () => {
  const ref = { name: 'kafka', key: 'topic' };
  const spec = (topic: object) => aFlow({ source: { type: 'kafka', config: { brokers: ['k'], ...topic } } });
  expect(normalise(spec({ topicSecretRef: ref }))).toMatchObject({
    isValid: false,
    errors: [
      {
        field: 'spec.source.config.topicSecretRef',
        detail: 'has no value: key topic of secret kafka was not read, or is empty',
      },
    ],
  });
  expect(normalised(spec({ topicSecretRef: ref, topic: 't' })).source.config).toMatchObject({ topic: 't' });
});

test('an invalid spec gives its errors', () => {
  expect(normalise({ source: 5 })).toMatchObject({ isValid: false, errors: validate({ source: 5 }).errors });
});

describe('whatever the flow', () => {
  /** The other shape of every block. */
  function flipped(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(flipped);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, field]) => [name, flipped(field)] as const);
    const type = Object.entries(value).find(([name]) => name === 'type')?.[1];
    const isBlock = typeof type === 'string' && (Object.hasOwn(value, 'config') || Object.hasOwn(value, type));
    const other = (name: string) => (name === 'config' ? String(type) : name === type ? 'config' : name);
    return Object.fromEntries(isBlock ? entries.map(([name, field]) => [other(name), field] as const) : entries);
  }

  const joined = (spec: unknown) =>
    joinSecrets(spec, new Map(secretRefsOf(spec).map(({ pointer }) => [pointer, 'http://iceberg'])));

  /** As many of them as rules between fields let pass. */
  const validFlow = anyFlow.filter((spec) => normalise(joined(spec)).isValid);

  test('both shapes give the same spec', () => {
    fc.assert(
      fc.property(validFlow, (spec) => {
        expect(normalised(joined(flipped(spec)))).toEqual(normalised(joined(spec)));
      }),
    );
  });

  test('a valid spec stays valid and the same when normalised again', () => {
    fc.assert(
      fc.property(validFlow, (spec) => {
        const once = normalised(joined(spec));
        expect(validate(once).errors).toEqual([]);
        expect(normalised(once)).toEqual(once);
      }),
    );
  });
});

test('the type of a block tells the type of its config', () => {
  const { source, transformations, errors } = normalised(SMALLEST);
  if (source.type === 'kafka') expectTypeOf(source.config.brokers).toEqualTypeOf<readonly string[]>();
  if (source.type === 'postgresql') expectTypeOf(source.config.table).toEqualTypeOf<string | undefined>();
  expectTypeOf(errors?.ackPolicy).toEqualTypeOf<'afterWrite' | 'never' | 'afterMainSinkSuccess' | undefined>();
  expectTypeOf<TransformationConfig<'mask'>['maskChar']>().toEqualTypeOf<string>();
  expectTypeOf<TransformationConfig<'router'>['routes'][number]['sink']>().toEqualTypeOf<SinkSpec>();
  expect(transformations).toEqual([]);
});
