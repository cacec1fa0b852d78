/** Specs for tests: small ones to start from, and arbitrary ones made of the declarations themselves. */
import fc from 'fast-check';
import { flow } from './flow.ts';
import { extrasOf } from './given.ts';
import { type Block, type Format, type Schema, schemaOf, secretRefOf } from './schema.ts';
import { transformation } from './transformations/index.ts';

export const kafkaSource = { type: 'kafka', kafka: { brokers: ['k:9092'], topic: 'in', consumerGroup: 'g' } } as const;
export const kafkaSink = { type: 'kafka', kafka: { brokers: ['k:9092'], topic: 'out' } } as const;

/** A flow from Kafka to Kafka, with whatever else is to be said. */
export const aFlow = (more: Readonly<Record<string, unknown>> = {}) => ({
  source: kafkaSource,
  sink: kafkaSink,
  ...more,
});

export const ref = (key: string) => ({ name: 's', key });
export const refs = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`${name}SecretRef`, ref(name)]));

const tls = refs('cert', 'key', 'ca');
const user = refs('username', 'password');
const trino = {
  ...refs('serverURL', 'catalog', 'schema', 'table'),
  keycloak: refs('serverURL', 'realm', 'clientID', 'clientSecret', 'username', 'password', 'token'),
  tls,
};
const nessie = refs('baseURL', 'token', 'namespace', 'table', 'accessKey', 'secretAccessKey');
/** A reference to a Secret wherever there may be one. */
export const flowOfSecrets = {
  source: {
    type: 'kafka',
    kafka: {
      ...refs('brokers', 'topic', 'consumerGroup', 'avroSchema'),
      tls,
      sasl: user,
      schemaRegistry: { ...refs('url'), basicAuth: user, tls },
    },
  },
  sink: { type: 'trino', config: trino },
  errors: { type: 'nessie', nessie: { ...nessie, authenticationType: 'BASIC', basicAuth: user } },
  transformations: [
    { type: 'timestamp', timestamp: {} },
    {
      type: 'router',
      router: {
        routes: [
          { condition: 'a', sink: { type: 'postgresql', postgresql: refs('connectionString', 'table') } },
          {
            condition: 'b',
            sink: { type: 'kafka', config: { brokers: ['k'], topicSecretRef: { ...ref('t'), namespace: 'ns' } } },
          },
        ],
      },
    },
  ],
};

/** Every field that a spec has at its top. */
export const wholeFlow = aFlow({
  errors: {
    type: 'nessie',
    config: { baseURL: 'http://nessie:19120', namespace: 'n', table: 'failed' },
    ackPolicy: 'never',
  },
  transformations: [{ type: 'filter', config: { condition: "$.status == 'paid'" } }],
  resources: { requests: { cpu: '200m', memory: '256Mi' }, limits: { cpu: 1, memory: '1Gi' } },
  nodeSelector: { disk: 'ssd' },
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  replicas: 3,
  processorImage: 'registry.example.com/polder',
  processorVersion: '1.2.3',
  imagePullSecrets: [{ name: 'registry' }],
  terminationGracePeriodSeconds: 60,
  channelBufferSize: 500,
  ackGranularity: 'message',
  checkpointPersistence: true,
  checkpointSyncOnAck: true,
  checkpointSaveInterval: '5s',
  checkpointReset: false,
  strictIdempotency: true,
  maintenance: {
    startTime: '2026-01-31T02:00:00Z',
    duration: '2h',
    repeat: 'weekly',
    timezone: 'Europe/Berlin',
    description: 'The nightly backup.',
    suspended: false,
  },
});

/** Nearly always valid: only rules between fields may be broken. */
export const anyFlow: fc.Arbitrary<unknown> = fc.constant(null).chain(() => arbitraryOf(schemaOf(flow), fineText));

/** A transformation whose texts may be anything that somebody could write there. */
export const anyTransformation = (): fc.Arbitrary<unknown> => arbitraryOf(schemaOf(transformation), strangeText);

const TEXTS: Readonly<Record<Format, readonly string[]>> = {
  condition: ['$.level', "$.level == 'error'", '$.n != 5'],
  'date-time': ['2026-01-31T02:00:00Z', '2026-01-31T02:00:00.5+01:00'],
  duration: ['30s', '1h30m', '1.5s'],
  'header-mapping': ['X-Request-Id:requestId', 'A:$.b.c'],
  'http-url': ['http://h:8080', 'https://h/path'],
  'inserted-value': ['text', '', 'json:{"a":[1]}', '${now}'],
  json: ['{"type":"string"}'],
  path: ['a', '$.a.b', 'items.0.sku'],
  quantity: ['100m', '1', '512Mi', '1.5Gi', '0'],
  rename: ['a:b', '$.a.b:c'],
  'single-path': ['a', '$.a.b', 'items.0'],
  'target-path': ['a', '$.a.b', 'items.0.sku', 'items.-1'],
  'time-zone': ['UTC', 'Europe/Berlin'],
  'top-level-key': ['record'],
  'unsigned-integer': ['0', '8744736658442914487'],
  'zone-or-offset': ['+02:00', 'America/New_York'],
};

type Texts = (format: Format) => fc.Arbitrary<string>;

const fineText: Texts = (format) => fc.constantFrom(...TEXTS[format]);

/** All that means something in a path, a condition, a pair or a value. */
const TOKENS = [
  'a',
  'b',
  '.',
  ':',
  '#',
  '*',
  '?',
  '-1',
  '0',
  '10000',
  '[0]',
  '[*]',
  '\\',
  '$',
  '|',
  '(',
  ')',
  '==',
  '!',
  "'",
];
const MORE_TOKENS = [
  ' ',
  'json:',
  '{"a":',
  '[',
  ']',
  '}',
  '1e5',
  '${metadata.',
  '@this',
  'Europe/',
  'Z',
  '+0',
  '__proto__',
];
const strange = fc.array(fc.constantFrom(...TOKENS, ...MORE_TOKENS), { maxLength: 6 }).map((tokens) => tokens.join(''));
const tooDeep = fc.constant(`json:${'['.repeat(3_000)}${']'.repeat(3_000)}`);

const strangeText: Texts = (format) =>
  fc.oneof(
    { weight: 5, arbitrary: fineText(format) },
    { weight: 5, arbitrary: strange },
    { weight: 1, arbitrary: tooDeep },
  );

const word = fc.stringMatching(/^[a-z][a-z_-]{0,5}$/);

function arbitraryOf(schema: Schema, texts: Texts): fc.Arbitrary<unknown> {
  const { 'x-polder-block': block, properties, additionalProperties, items, format } = schema;
  if (block) return arbitraryBlock(block, texts);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (format) return texts(format);
  if (properties) return arbitraryObject(schema, properties, texts);
  if (additionalProperties) {
    const keys = schema.propertyNames ? texts(schema.propertyNames.format) : word;
    const values = arbitraryOf(additionalProperties, texts);
    return fc.dictionary(keys, values, { minKeys: schema.minProperties ?? 0, maxKeys: 3 });
  }
  if (items) return fc.array(arbitraryOf(items, texts), { minLength: schema.minItems ?? 0, maxLength: 3 });
  if (schema.type === 'string') return word;
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? 0, max: 100 });
  if (schema.type === 'boolean') return fc.boolean();
  return fc.dictionary(word, fc.jsonValue(), { maxKeys: 2 });
}

const secretRef = fc.record({ name: word, key: word, namespace: word }, { requiredKeys: ['name', 'key'] });

function arbitraryObject(
  schema: Schema,
  properties: Readonly<Record<string, Schema>>,
  texts: Texts,
): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, property]): fc.Arbitrary<Record<string, unknown>> => {
    const ref = secretRefOf(name, property);
    const literal = arbitraryOf(property, texts).map((value) => ({ [name]: value }));
    const isRequired = schema.required?.includes(name) && property.default === undefined;
    const given =
      ref === undefined
        ? literal
        : fc.oneof(
            { weight: 3, arbitrary: literal },
            { weight: 1, arbitrary: secretRef.map((value) => ({ [ref]: value })) },
          );
    return isRequired || property['x-polder-unless'] !== undefined
      ? given
      : fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: given });
  });
  return fc.tuple(...fields).map((parts) => Object.assign({}, ...parts));
}

function arbitraryBlock(block: Block, texts: Texts): fc.Arbitrary<unknown> {
  const extras = arbitraryObject({}, extrasOf(block), texts);
  return fc.oneof(
    ...Object.entries(block.variants).map(([type, variant]) =>
      fc
        .tuple(fc.constantFrom(type, 'config'), arbitraryOf(schemaOf(variant), texts), extras)
        .map(([name, config, fields]) => ({ type, [name]: config, ...Object(fields) })),
    ),
  );
}
