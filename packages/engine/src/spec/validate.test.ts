import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeError, describeErrors } from './field-error.ts';
import { aFlow, anyFlow, flowOfSecrets, kafkaSink, kafkaSource, wholeFlow } from './test-flows.ts';
import { validate } from './validate.ts';

const errorsOf = (spec: unknown) => validate(spec).errors.map(describeError);
const source = (type: string, config: unknown) => aFlow({ source: { type, [type]: config } });
const sink = (type: string, config: unknown) => aFlow({ sink: { type, [type]: config } });
const transformation = (...transformations: readonly unknown[]) => aFlow({ transformations });

const pg = { connectionStringSecretRef: { name: 'pg', key: 'url' }, table: 't' };
const trino = { serverURL: 'http://trino:8080', catalog: 'iceberg', schema: 's', table: 't' };
const nessie = { baseURL: 'http://nessie:19120', namespace: 'n', table: 't' };
const TYPES = '"kafka", "postgresql", "trino", "nessie"';
const TRANSFORMATIONS =
  '"timestamp", "flatten", "filter", "mask", "router", "select", "remove", "snakeCase", "camelCase", "debeziumUnwrap", "replaceField", "headersToPayload", "structFlatten", "extractField", "hoistField", "cast", "timezone", "insertField"';

describe('flows as users write them are valid', () => {
  test.each([
    ['kafka to kafka', aFlow()],
    [
      'the envelope',
      { source: { type: 'kafka', config: kafkaSource.kafka }, sink: { type: 'kafka', config: kafkaSink.kafka } },
    ],
    ['postgresql source', source('postgresql', { connectionString: 'host=localhost', table: 't' })],
    ['trino source', source('trino', trino)],
    ['nessie source', source('nessie', nessie)],
    ['postgresql sink', sink('postgresql', pg)],
    ['trino sink', sink('trino', trino)],
    ['nessie sink', sink('nessie', nessie)],
    ['nothing but references to Secrets', flowOfSecrets],
    ['every field of the spec', wholeFlow],
    ['with an error sink', aFlow({ errors: { ...kafkaSink, ackPolicy: 'never' } })],
    [
      'with transformations',
      transformation(
        { type: 'timestamp', timestamp: {} },
        { type: 'flatten', flatten: { field: 'items' } },
        { type: 'snakeCase', config: {} },
        { type: 'debeziumUnwrap' },
        { type: 'cast', config: { spec: { id: 'int64', deleted_at: null } } },
      ),
    ],
    [
      'null and empty texts mean that nothing is given',
      source('kafka', { ...kafkaSource.kafka, format: '', tls: null, sasl: null }),
    ],
  ])('%s', (_name, spec) => {
    expect(errorsOf(spec)).toEqual([]);
  });
});

describe('the words of an error are those that users and their tools know', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['no spec', undefined, ['spec: Required value: spec is required']],
    [
      'no blocks',
      {},
      [
        'spec.source.type: Required value: source type is required',
        'spec.sink.type: Required value: sink type is required',
      ],
    ],
    ['no type', aFlow({ source: {} }), ['spec.source.type: Required value: source type is required']],
    ['an empty type', aFlow({ sink: { type: '' } }), ['spec.sink.type: Required value: sink type is required']],
    [
      'an unknown type',
      aFlow({ source: { type: 'x' } }),
      [`spec.source.type: Unsupported value: "x": supported values: ${TYPES}`],
    ],
    [
      'a type that others have',
      aFlow({ sink: { type: 'clickhouse', config: {} } }),
      [`spec.sink.type: Unsupported value: "clickhouse": supported values: ${TYPES}`],
    ],
    [
      'no source block',
      aFlow({ source: { type: 'kafka' } }),
      ['spec.source.kafka: Required value: kafka source configuration is required'],
    ],
    [
      'no sink block',
      aFlow({ sink: { type: 'trino' } }),
      ['spec.sink.trino: Required value: trino sink configuration is required'],
    ],
    [
      'no block of the error sink',
      aFlow({ errors: { type: 'kafka' } }),
      ['spec.errors.kafka: Required value: kafka sink configuration is required'],
    ],
    [
      'an empty kafka block',
      source('kafka', {}),
      [
        'spec.source.kafka.brokers: Invalid value: null: brokers or brokersSecretRef is required',
        'spec.source.kafka.topic: Required value: topic or topicSecretRef is required',
      ],
    ],
    [
      'an empty list of brokers in an envelope',
      aFlow({ source: { type: 'kafka', config: { brokers: [], topic: 't' } } }),
      ['spec.source.config.brokers: Invalid value: []: brokers or brokersSecretRef is required'],
    ],
    [
      'an empty postgresql block',
      sink('postgresql', {}),
      [
        'spec.sink.postgresql.connectionString: Required value: connectionString or connectionStringSecretRef is required',
        'spec.sink.postgresql.table: Required value: table or tableSecretRef is required',
      ],
    ],
    [
      'an empty trino block',
      source('trino', {}),
      ['serverURL', 'catalog', 'schema', 'table'].map(
        (name) => `spec.source.trino.${name}: Required value: ${name} or ${name}SecretRef is required`,
      ),
    ],
    [
      'an empty nessie block',
      sink('nessie', {}),
      ['baseURL', 'namespace', 'table'].map(
        (name) => `spec.sink.nessie.${name}: Required value: ${name} or ${name}SecretRef is required`,
      ),
    ],
    [
      'a reference without name and key',
      source('kafka', { brokers: ['k'], topicSecretRef: {} }),
      [
        'spec.source.kafka.topicSecretRef.name: Required value: secret name is required',
        'spec.source.kafka.topicSecretRef.key: Required value: secret key is required',
      ],
    ],
    [
      'what is missing comes before references, references before values',
      source('kafka', { brokersSecretRef: { name: 'n' }, format: 'xml' }),
      [
        'spec.source.kafka.topic: Required value: topic or topicSecretRef is required',
        'spec.source.kafka.brokersSecretRef.key: Required value: secret key is required',
        'spec.source.kafka.format: Unsupported value: "xml": supported values: "json", "avro"',
      ],
    ],
    [
      'a transformation without type',
      transformation({}),
      ['spec.transformations[0].type: Required value: transformation type is required'],
    ],
    [
      'an unknown transformation',
      transformation({ type: 'unknown' }),
      [`spec.transformations[0].type: Unsupported value: "unknown": supported values: ${TRANSFORMATIONS}`],
    ],
    ...['timestamp', 'flatten', 'filter', 'mask', 'router', 'select', 'remove', 'snakeCase', 'camelCase', 'cast'].map(
      (type): [string, unknown, readonly string[]] => [
        `${type} without its block`,
        transformation({ type }),
        [`spec.transformations[0].${type}: Required value: ${type} transformation configuration is required`],
      ],
    ),
    [
      'flatten without a field',
      transformation({ type: 'flatten', flatten: { field: '' } }),
      ['spec.transformations[0].flatten.field: Required value: field is required'],
    ],
    [
      'filter without a condition',
      transformation({ type: 'filter', filter: {} }),
      ['spec.transformations[0].filter.condition: Required value: condition is required'],
    ],
    ...['mask', 'select', 'remove'].map((type): [string, unknown, readonly string[]] => [
      `${type} without fields`,
      transformation({ type, [type]: { fields: [] } }),
      [`spec.transformations[0].${type}.fields: Required value: at least one field is required`],
    ]),
    [
      'routes without condition and with a bad sink',
      transformation({
        type: 'router',
        router: { routes: [{ condition: '$.a', sink: kafkaSink }, { sink: { type: 'kafka' } }] },
      }),
      [
        'spec.transformations[0].router.routes[1].condition: Required value: condition is required',
        'spec.transformations[0].router.routes[1].sink.kafka: Required value: kafka sink configuration is required',
      ],
    ],
    [
      'a route in an envelope, its sink in another',
      transformation({
        type: 'router',
        config: { routes: [{ condition: '$.a', sink: { type: 'postgresql', config: { table: 't' } } }] },
      }),
      [
        'spec.transformations[0].config.routes[0].sink.config.connectionString: Required value: connectionString or connectionStringSecretRef is required',
      ],
    ],
    [
      'negative resources',
      aFlow({ resources: { requests: { cpu: '-100m' }, limits: { memory: '1Gi' } } }),
      ['spec.resources.requests[cpu]: Invalid value: "-100m": resource quantity must not be negative'],
    ],
  ])('%s', (_name, spec, expected) => {
    expect(errorsOf(spec)).toEqual(expected);
  });

  test('all errors are told at once: those of source, sink, errors, transformations and resources, in this order', () => {
    const spec = {
      resources: { limits: { cpu: 'much' } },
      transformations: [{ type: 'flatten', flatten: {} }],
      errors: { type: 'kafka' },
      sink: { type: 'x' },
      source: {},
    };
    expect(validate(spec).errors.map(({ field }) => field)).toEqual([
      'spec.source.type',
      'spec.sink.type',
      'spec.errors.kafka',
      'spec.transformations[0].flatten.field',
      'spec.resources.limits[cpu]',
    ]);
  });

  test('one error is printed bare, several in brackets', () => {
    const [first, second] = validate({}).errors;
    if (!first || !second) throw new Error('there should be two errors');
    expect(describeErrors([])).toBe('');
    expect(describeErrors([first])).toBe('spec.source.type: Required value: source type is required');
    expect(describeErrors([first, second, second])).toBe(
      '[spec.source.type: Required value: source type is required, spec.sink.type: Required value: sink type is required]',
    );
  });
});

describe('a block has one shape', () => {
  test.each<[string, unknown, readonly string[]]>([
    [
      'both',
      { ...kafkaSource, config: kafkaSource.kafka },
      ['spec.source.config: Forbidden: may not be given beside kafka; keep one of the two'],
    ],
    [
      'that of another type',
      { ...kafkaSource, postgresql: pg },
      ['spec.source.postgresql: Forbidden: is for type postgresql, but type is kafka'],
    ],
    ['no object', { type: 'kafka', kafka: [] }, ['spec.source.kafka: Invalid value: []: must be an object']],
    ['a list', [kafkaSource], ['spec.source: Invalid value: must be an object']],
  ])('%s', (_name, given, expected) => {
    expect(errorsOf(aFlow({ source: given }))).toEqual(expected);
  });
});

describe('unknown fields are named, with what was probably meant', () => {
  test.each<[string, unknown, readonly string[]]>([
    [
      'in the spec',
      aFlow({ transformation: [] }),
      ['spec.transformation: Forbidden: unknown field; did you mean transformations?'],
    ],
    [
      'in a block',
      aFlow({ sink: { ...kafkaSink, ackPolicy: 'never' } }),
      ['spec.sink.ackPolicy: Forbidden: unknown field'],
    ],
    [
      'in a config',
      source('kafka', { ...kafkaSource.kafka, Consumergroup: 'g' }),
      ['spec.source.kafka.Consumergroup: Forbidden: unknown field; did you mean consumerGroup?'],
    ],
    [
      'in a shared block',
      source('kafka', { ...kafkaSource.kafka, tls: { caSecretref: {} } }),
      ['spec.source.kafka.tls.caSecretref: Forbidden: unknown field; did you mean caSecretRef?'],
    ],
    [
      'a reference where there is none',
      source('kafka', { ...kafkaSource.kafka, formatSecretRef: {} }),
      ['spec.source.kafka.formatSecretRef: Forbidden: unknown field'],
    ],
    [
      'in a reference',
      source('kafka', { brokers: ['k'], topicSecretRef: { name: 'n', key: 'k', 'a/b': 1 } }),
      ['spec.source.kafka.topicSecretRef[a/b]: Forbidden: unknown field'],
    ],
    [
      'a field of the other side',
      sink('kafka', { ...kafkaSink.kafka, consumerGroup: 'g' }),
      ['spec.sink.kafka.consumerGroup: Forbidden: unknown field'],
    ],
  ])('%s', (_name, spec, expected) => {
    expect(errorsOf(spec)).toEqual(expected);
  });
});

describe('every reference to a Secret is checked', () => {
  const bad = { name: 'n' };
  const user = { username: 'u', passwordSecretRef: bad };
  test.each<[string, unknown, string]>([
    ['tls', source('kafka', { ...kafkaSource.kafka, tls: { caSecretRef: bad } }), 'source.kafka.tls.caSecretRef'],
    ['sasl', source('kafka', { ...kafkaSource.kafka, sasl: user }), 'source.kafka.sasl.passwordSecretRef'],
    [
      'consumerGroup',
      source('kafka', { brokers: ['k'], topic: 't', consumerGroupSecretRef: bad }),
      'source.kafka.consumerGroupSecretRef',
    ],
    [
      'avroSchema',
      source('kafka', { ...kafkaSource.kafka, avroSchemaSecretRef: bad }),
      'source.kafka.avroSchemaSecretRef',
    ],
    [
      'schema registry',
      source('kafka', { ...kafkaSource.kafka, schemaRegistry: { urlSecretRef: bad } }),
      'source.kafka.schemaRegistry.urlSecretRef',
    ],
    [
      'its user',
      source('kafka', { ...kafkaSource.kafka, schemaRegistry: { url: 'http://r', basicAuth: user } }),
      'source.kafka.schemaRegistry.basicAuth.passwordSecretRef',
    ],
    ['keycloak', sink('trino', { ...trino, keycloak: { tokenSecretRef: bad } }), 'sink.trino.keycloak.tokenSecretRef'],
    [
      'the client of keycloak',
      sink('trino', { ...trino, keycloak: { token: 't', clientSecretSecretRef: bad } }),
      'sink.trino.keycloak.clientSecretSecretRef',
    ],
    ['nessie', sink('nessie', { ...nessie, tokenSecretRef: bad }), 'sink.nessie.tokenSecretRef'],
    [
      'object storage',
      sink('nessie', { ...nessie, accessKey: 'a', secretAccessKeySecretRef: bad }),
      'sink.nessie.secretAccessKeySecretRef',
    ],
    [
      'error sink',
      aFlow({ errors: { type: 'kafka', config: { brokers: ['k'], topicSecretRef: bad } } }),
      'errors.config.topicSecretRef',
    ],
    [
      'route',
      transformation({
        type: 'router',
        router: {
          routes: [{ condition: 'a', sink: { type: 'postgresql', postgresql: { ...pg, tableSecretRef: bad } } }],
        },
      }),
      'transformations[0].router.routes[0].sink.postgresql.tableSecretRef',
    ],
  ])('%s', (_name, spec, field) => {
    expect(errorsOf(spec)).toEqual([`spec.${field}.key: Required value: secret key is required`]);
  });
});

describe('secrets are not quoted', () => {
  test.each([
    sink('postgresql', { connectionString: ['hunter2'], table: 't' }),
    sink('postgresql', { ...pg, connectionString: { a: 'hunter2' } }),
    source('kafka', { ...kafkaSource.kafka, sasl: { username: 'u', password: 2, passwrod: 'hunter2' } }),
    source('trino', { ...trino, serverURL: 'ftp://me:hunter2@trino' }),
    source('trino', { ...trino, serverURL: 'http://me:a/b@hunter2@trino' }),
    source('trino', { ...trino, serverURL: 'hunter2', serverURLSecretRef: { name: 'n', key: 'k' } }),
    sink('trino', {
      ...trino,
      upsertMode: true,
      conflictKey: 'id',
      catalog: 'hunter2',
      catalogSecretRef: { name: 'n', key: 'k' },
    }),
    source('kafka', { ...kafkaSource.kafka, topicSecretRef: 'hunter2' }),
  ])('%#', (spec) => {
    const { errors, warnings } = validate(spec);
    expect(errors).not.toEqual([]);
    expect([describeErrors(errors), ...warnings].join()).not.toContain('hunter2');
  });
});

describe('whatever the spec', () => {
  test('any JSON gives errors, never a crash', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (spec) => {
        expect(validate(spec).errors.length).toBeGreaterThan(0);
      }),
    );
  });

  test('any JSON in the place of a field gives errors of that field or none, never a crash', () => {
    fc.assert(
      fc.property(anyFlow, fc.nat(), fc.jsonValue(), (spec, seed, value) => {
        const places = placesIn(spec);
        const place = places[seed % places.length] ?? [];
        for (const error of validate(replaced(spec, place, value)).errors) expect(error.field).toMatch(/^spec/);
      }),
    );
  });

  test('an unknown field is found wherever it is', () => {
    fc.assert(
      fc.property(anyFlow, fc.nat(), (spec, seed) => {
        const places = placesIn(spec);
        const place = places[seed % places.length] ?? [];
        const { errors } = validate(replaced(spec, [...place, 'zzz'], true));
        expect(errors.map(describeError)).toContainEqual(expect.stringMatching(/\.zzz: Forbidden: unknown field$/));
      }),
    );
  });

  test('names that every object has are no fields', () => {
    const spec: unknown = JSON.parse('{"source":{"type":"constructor","__proto__":{"type":"kafka"}},"toString":{}}');
    expect(errorsOf(spec)).toEqual([
      `spec.source.type: Unsupported value: "constructor": supported values: ${TYPES}`,
      'spec.sink.type: Required value: sink type is required',
      'spec.toString: Forbidden: unknown field',
    ]);
  });
});

/** Maps with keys of the user's choice, and what Kubernetes checks. */
const OPEN = ['limits', 'requests', 'claims', 'nodeSelector', 'affinity', 'tolerations', 'imagePullSecrets', 'spec'];

/** The paths of all objects with declared fields. */
function placesIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value)
    .filter(([name, field]) => !OPEN.includes(name) && !(name === 'fields' && !Array.isArray(field)))
    .flatMap(([name, field]) => placesIn(field, [...path, name]));
  return Array.isArray(value) ? inner : [path, ...inner];
}

function replaced(value: unknown, [first, ...rest]: readonly string[], by: unknown): unknown {
  if (first === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === first ? replaced(item, rest, by) : item));
  const fields: Readonly<Record<string, unknown>> = Object(value);
  return { ...fields, [first]: replaced(fields[first], rest, by) };
}
