import { describe, expect, test } from 'vitest';
import { describeError } from './field-error.ts';
import { aFlow, kafkaSink, kafkaSource } from './test-flows.ts';
import { validate } from './validate.ts';

const errorsOf = (spec: unknown) => validate(spec).errors.map(describeError);
const warningsOf = (spec: unknown) => validate(spec).warnings;
const source = (type: string, config: unknown) => aFlow({ source: { type, [type]: config } });
const sink = (type: string, config: unknown) => aFlow({ sink: { type, [type]: config } });
const transformation = (...transformations: readonly unknown[]) => aFlow({ transformations });

const pg = { connectionStringSecretRef: { name: 'pg', key: 'url' }, table: 't' };
const trino = { serverURL: 'http://trino:8080', catalog: 'iceberg', schema: 's', table: 't' };
const nessie = { baseURL: 'http://nessie:19120', namespace: 'n', table: 't' };

describe('fields that contradict each other are refused', () => {
  const kafka = (more: object) => source('kafka', { ...kafkaSource.kafka, ...more });
  const user = { username: 'u', passwordSecretRef: { name: 'n', key: 'k' } };
  const upsert = { ...pg, upsertMode: true };
  const routing = { type: 'router', config: { routes: [{ condition: 'a', sink: kafkaSink }] } };
  test.each<[string, unknown, string]>([
    [
      'SASL_PLAINTEXT without sasl',
      kafka({ securityProtocol: 'sasl-plaintext' }),
      'spec.source.kafka.sasl: Required value: securityProtocol SASL_PLAINTEXT needs sasl',
    ],
    [
      'SASL_PLAINTEXT with tls',
      kafka({ securityProtocol: 'SASL_PLAINTEXT', sasl: user, tls: {} }),
      'spec.source.kafka.tls: Forbidden: securityProtocol SASL_PLAINTEXT is without tls',
    ],
    [
      'SSL without tls',
      kafka({ securityProtocol: 'ssl' }),
      'spec.source.kafka.tls: Required value: securityProtocol SSL needs tls',
    ],
    [
      'an unknown protocol',
      kafka({ securityProtocol: 'TLS' }),
      'spec.source.kafka.securityProtocol: Unsupported value: "TLS": supported values: "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"',
    ],
    [
      'an unknown mechanism',
      kafka({ sasl: { ...user, mechanism: 'PLAIN' }, tls: {} }),
      'spec.source.kafka.sasl.mechanism: Unsupported value: "PLAIN": supported values: "plain", "scram-sha-256", "scram-sha-512"',
    ],
    [
      'a user without password',
      kafka({ tls: {}, sasl: { username: 'u' } }),
      'spec.source.kafka.sasl.password: Required value: password or passwordSecretRef is required',
    ],
    [
      'a certificate without key',
      kafka({ tls: { certFile: '/c' } }),
      'spec.source.kafka.tls.keyFile: Required value: a certificate needs its key',
    ],
    [
      'avro without a schema',
      kafka({ format: 'avro' }),
      'spec.source.kafka.schemaRegistry: Required value: format avro needs a schemaRegistry, an avroSchema or an avroSchemaFile',
    ],
    [
      'two schemas',
      kafka({ format: 'avro', avroSchema: '{}', avroSchemaFile: '/s' }),
      'spec.source.kafka.avroSchemaFile: Forbidden: may not be given beside avroSchema; keep one of the two',
    ],
    [
      'a schema that is no JSON',
      kafka({ format: 'avro', avroSchema: '{' }),
      'spec.source.kafka.avroSchema: Invalid value: "{": must be JSON',
    ],
    [
      'ifNewer without a column',
      sink('postgresql', { ...upsert, upsertStrategy: 'ifNewer' }),
      'spec.sink.postgresql.upsertVersionColumn: Required value: upsertVersionColumn is required when upsertStrategy is ifNewer',
    ],
    [
      'ifNewer without upsertMode',
      sink('postgresql', { ...pg, upsertStrategy: 'ifNewer', upsertVersionColumn: 'v' }),
      'spec.sink.postgresql.upsertMode: Required value: upsertStrategy ifNewer works in upsertMode only',
    ],
    [
      'upsert of raw rows',
      sink('postgresql', { ...upsert, rawMode: true }),
      'spec.sink.postgresql.upsertMode: Forbidden: rows of rawMode have no key to find them again by, unless flattenMetadataColumns is true',
    ],
    [
      'metadata columns without rawMode',
      sink('nessie', { ...nessie, flattenMetadataColumns: true }),
      'spec.sink.nessie.rawMode: Required value: flattenMetadataColumns works in rawMode only',
    ],
    [
      'a batch that never ends',
      sink('nessie', { ...nessie, batchSize: 0, batchFlushIntervalSeconds: 0 }),
      'spec.sink.nessie.batchFlushIntervalSeconds: Invalid value: 0: with a batchSize of 0 nothing would ever be written',
    ],
    [
      'merge without key',
      sink('trino', { ...trino, upsertMode: true }),
      'spec.sink.trino.conflictKey: Required value: conflictKey is required when upsertMode is true',
    ],
    [
      'merge into hive',
      sink('trino', { ...trino, catalog: 'hive', upsertMode: true, conflictKey: 'id' }),
      'spec.sink.trino.catalog: Invalid value: "hive": upsertMode needs an Iceberg catalog, with iceberg in its name',
    ],
    [
      'half a keycloak',
      sink('trino', { ...trino, keycloak: { serverURL: 'http://k', realm: 'r', clientID: 'c', username: 'u' } }),
      'spec.sink.trino.keycloak: Invalid value: Keycloak authentication requires either token, username/password, or client secret',
    ],
    [
      'a query for Nessie',
      source('nessie', { ...nessie, query: 'x' }),
      'spec.source.nessie.query: Forbidden: no engine would run it: filter with a transformation, or read the table with a trino source',
    ],
    [
      'a query of snapshots',
      source('nessie', { ...nessie, query: 'x', incrementalBySnapshot: true }),
      'spec.source.nessie.query: Forbidden: may not be given with incrementalBySnapshot',
    ],
    [
      'a snapshot that is no number',
      source('nessie', { ...nessie, startSnapshotID: '-1', incrementalBySnapshot: true }),
      'spec.source.nessie.startSnapshotID: Invalid value: "-1": must be digits only',
    ],
    [
      'one key of two',
      sink('nessie', { ...nessie, accessKeySecretRef: { name: 'n', key: 'k' } }),
      'spec.sink.nessie.secretAccessKey: Required value: accessKey and secretAccessKey are given together or not at all',
    ],
    [
      'bearer without token',
      sink('nessie', { ...nessie, authenticationType: 'BEARER' }),
      'spec.sink.nessie.bearerToken: Required value: bearerToken or tokenSecretRef is required when authenticationType is BEARER',
    ],
    [
      'two ways in',
      sink('nessie', { ...nessie, bearerToken: 't', basicAuth: user }),
      'spec.sink.nessie.basicAuth: Forbidden: may not be given beside bearerToken unless authenticationType says which one to use',
    ],
    [
      'neither table nor query',
      source('postgresql', { connectionString: 'c' }),
      'spec.source.postgresql.table: Required value: table or tableSecretRef is required',
    ],
    [
      'polling without pause',
      source('trino', { ...trino, pollInterval: 0 }),
      'spec.source.trino.pollInterval: Invalid value: 0: must be at least 1',
    ],
    [
      'a number too large',
      source('trino', { ...trino, readBatchSize: 2 ** 31 }),
      'spec.source.trino.readBatchSize: Invalid value: 2147483648: must be at most 2147483647',
    ],
    [
      'a URL without http',
      source('trino', { ...trino, serverURL: 'trino:8080' }),
      'spec.source.trino.serverURL: Invalid value: "trino:8080": must be a URL that begins with http:// or https://',
    ],
    [
      'include and exclude',
      transformation({ type: 'replaceField', config: { include: ['a'], exclude: ['b'] } }),
      'spec.transformations[0].config.exclude: Forbidden: may not be given beside include',
    ],
    [
      'nothing to replace',
      transformation({ type: 'replaceField', config: {} }),
      'spec.transformations[0].config: Required value: at least one of renames, include and exclude is required',
    ],
    [
      'a rename without a new name',
      transformation({ type: 'replaceField', config: { renames: ['a'] } }),
      'spec.transformations[0].config.renames[0]: Invalid value: "a": must be written as old:new',
    ],
    [
      'an empty delimiter',
      transformation({ type: 'structFlatten', structFlatten: { delimiter: '' } }),
      'spec.transformations[0].structFlatten.delimiter: Invalid value: "": must not be empty',
    ],
    [
      'hoist into a path',
      transformation({ type: 'hoistField', config: { field: 'a.b' } }),
      'spec.transformations[0].config.field: Invalid value: "a.b": must be the name of a field at the top, without dots',
    ],
    [
      'no cast',
      transformation({ type: 'cast', config: { spec: {} } }),
      'spec.transformations[0].config.spec: Required value: at least one field is required',
    ],
    [
      'a cast to nothing known',
      transformation({ type: 'cast', config: { spec: { 'a.b': 'int' } } }),
      'spec.transformations[0].config.spec[a.b]: Unsupported value: "int": supported values: "string", "int64", "float64", "bool", "null"',
    ],
    [
      'an unknown zone',
      transformation({ type: 'timezone', config: { timezone: 'Mars/Olympus', fields: ['a'] } }),
      'spec.transformations[0].config.timezone: Invalid value: "Mars/Olympus": must be a time zone such as UTC or Europe/Berlin, or an offset such as +02:00',
    ],
    [
      'inserted JSON that is none',
      transformation({ type: 'insertField', config: { fields: { a: 'json:{' } } }),
      'spec.transformations[0].config.fields[a]: Invalid value: "json:{": has no JSON after json:',
    ],
    [
      'a header without a field',
      transformation({ type: 'headersToPayload', config: { mappings: ['X-Id:'] } }),
      'spec.transformations[0].config.mappings[0]: Invalid value: "X-Id:": must be written as Header:path',
    ],
    [
      'a route that no message reaches',
      transformation({
        type: 'router',
        config: {
          routes: [
            { condition: 'a', sink: kafkaSink },
            { condition: ' a', sink: kafkaSink },
          ],
        },
      }),
      'spec.transformations[0].config.routes[1].condition: Duplicate value: no message comes here: a route before has it',
    ],
    [
      'two routers with the same condition',
      transformation(routing, routing),
      'spec.transformations: Duplicate value: two routers have a route with the condition "a": messages find their sink by it',
    ],
    [
      'TLS without TLS',
      sink('trino', { ...trino, tls: {} }),
      'spec.sink.trino.tls: Forbidden: serverURL is http://, of which nothing is encrypted: use https://, or remove tls',
    ],
    [
      'replicas of a polled source',
      { ...source('trino', trino), replicas: 2 },
      'spec.replicas: Invalid value: 2: may be more than 1 only if the source is kafka: each would read all of trino',
    ],
    [
      'strictIdempotency',
      { ...source('trino', trino), strictIdempotency: true },
      'spec.sink: Forbidden: strictIdempotency: what is read of trino again after a restart is written again; use a sink with upsertMode',
    ],
    [
      'an unknown policy',
      aFlow({ errors: { ...kafkaSink, ackPolicy: 'always' } }),
      'spec.errors.ackPolicy: Unsupported value: "always": supported values: "afterWrite", "never", "afterMainSinkSuccess"',
    ],
    [
      'an interval that is none',
      aFlow({ checkpointSaveInterval: '30' }),
      'spec.checkpointSaveInterval: Invalid value: "30": must be a duration greater than 0 such as 30s, 5m or 1h30m',
    ],
    [
      'a window without end',
      aFlow({ maintenance: { startTime: '2026-01-31T02:00:00Z' } }),
      'spec.maintenance.duration: Required value: startTime and duration are given together',
    ],
    [
      'a window on a day that is none',
      aFlow({ maintenance: { startTime: '2026-02-30T02:00:00Z', duration: '1h' } }),
      'spec.maintenance.startTime: Invalid value: "2026-02-30T02:00:00Z": must be a time such as 2026-01-31T02:00:00Z (RFC 3339)',
    ],
    [
      'a window in an offset',
      aFlow({ maintenance: { timezone: '+02:00' } }),
      'spec.maintenance.timezone: Invalid value: "+02:00": must be a time zone such as UTC or Europe/Berlin',
    ],
    [
      'a quantity that is none',
      aFlow({ resources: { limits: { memory: '1 GB' } } }),
      'spec.resources.limits[memory]: Invalid value: "1 GB": must be a quantity such as 500m, 2 or 512Mi',
    ],
  ])('%s', (_name, spec, expected) => {
    expect(errorsOf(spec)).toEqual([expected]);
  });

  test('conditions and paths are judged by the grammars of the transformations', () => {
    const spec = transformation(
      { type: 'filter', config: { condition: "a == 'b" } },
      { type: 'cast', config: { spec: { 'a.#(b==1)': 'bool' } } },
      { type: 'replaceField', config: { renames: ['a..b:c'] } },
    );
    expect(validate(spec).errors.map(({ field }) => field)).toEqual([
      'spec.transformations[0].config.condition',
      'spec.transformations[1].config.spec[a.#(b==1)]',
      'spec.transformations[2].config.renames[0]',
    ]);
  });
});

describe('what is allowed and may be regretted is warned of', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['nothing', aFlow(), []],
    [
      'polling without upsert',
      source('postgresql', pg),
      ['spec.sink: without upsertMode what is read of postgresql again after a restart is written again'],
    ],
    [
      'polling with upsert',
      { ...source('postgresql', pg), sink: { type: 'postgresql', postgresql: { ...pg, upsertMode: true } } },
      [],
    ],
    [
      'unverified certificates',
      source('kafka', { ...kafkaSource.kafka, tls: { insecureSkipVerify: true } }),
      ['spec.source.kafka.tls.insecureSkipVerify: anybody on the way can pretend to be the server; give a CA instead'],
    ],
    [
      'a secret in clear text',
      sink('postgresql', { connectionString: 'postgres://u:p@h/db', table: 't' }),
      ['spec.sink.postgresql.connectionString: is a secret in clear text; use connectionStringSecretRef'],
    ],
    [
      'a made table without a key',
      sink('postgresql', { ...pg, autoCreateTable: true, upsertMode: true }),
      [
        'spec.sink.postgresql.autoCreateTable: with upsertMode: a table that is made has no primary key unless conflictKey names it',
      ],
    ],
    [
      'a shared group',
      source('kafka', { brokers: ['k'], topic: 't' }),
      [
        'spec.source.kafka.consumerGroup: is not set: all flows without one share the group dataflow-operator, and its messages',
      ],
    ],
    [
      'a password on the wire',
      source('kafka', { ...kafkaSource.kafka, sasl: { username: 'u', passwordSecretRef: { name: 'n', key: 'k' } } }),
      ['spec.source.kafka.sasl: without tls the password is sent in clear text'],
    ],
    [
      'a token on the wire',
      sink('trino', { ...trino, keycloak: { tokenSecretRef: { name: 'n', key: 'k' } } }),
      ['spec.sink.trino.serverURL: over http:// the token is sent in clear text'],
    ],
    [
      'a password on the wire to Trino',
      sink('trino', { ...trino, serverURL: 'http://me:hunter2@trino' }),
      ['spec.sink.trino.serverURL: over http:// the password is sent in clear text'],
    ],
    [
      'a secret on the wire to Keycloak',
      sink('trino', {
        ...trino,
        serverURL: 'https://trino',
        keycloak: { serverURL: 'http://k', realm: 'r', clientID: 'c', clientSecretSecretRef: { name: 'n', key: 'k' } },
      }),
      ['spec.sink.trino.keycloak.serverURL: over http:// secrets and tokens are sent in clear text'],
    ],
    [
      'a batch that waits',
      sink('nessie', { ...nessie, batchFlushIntervalSeconds: 0 }),
      [
        'spec.sink.nessie.batchFlushIntervalSeconds: is 0: a batch that is not full waits until it is, or the flow ends',
      ],
    ],
  ])('%s', (_name, spec, expected) => {
    expect(errorsOf(spec)).toEqual([]);
    expect(warningsOf(spec)).toEqual(expected);
  });
});
