import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinSecrets, redacted, secretRefsOf } from './secrets.ts';
import { aFlow, anyFlow, flowOfSecrets, kafkaSink, ref, refs } from './test-flows.ts';

test('every reference is found, and where its value belongs', () => {
  expect(secretRefsOf(flowOfSecrets).map(({ pointer }) => pointer)).toEqual([
    ...['brokers', 'topic', 'consumerGroup', 'avroSchema'].map((name) => `/source/kafka/${name}`),
    ...['tls/caFile', 'tls/certFile', 'tls/keyFile', 'sasl/username', 'sasl/password'].map(
      (name) => `/source/kafka/${name}`,
    ),
    ...['url', 'basicAuth/username', 'basicAuth/password', 'tls/caFile', 'tls/certFile', 'tls/keyFile'].map(
      (name) => `/source/kafka/schemaRegistry/${name}`,
    ),
    ...['serverURL', 'catalog', 'schema', 'table'].map((name) => `/sink/config/${name}`),
    ...['token', 'serverURL', 'realm', 'clientID', 'clientSecret', 'username', 'password'].map(
      (name) => `/sink/config/keycloak/${name}`,
    ),
    ...['caFile', 'certFile', 'keyFile'].map((name) => `/sink/config/tls/${name}`),
    ...[
      'baseURL',
      'namespace',
      'table',
      'bearerToken',
      'accessKey',
      'secretAccessKey',
      'basicAuth/username',
      'basicAuth/password',
    ].map((name) => `/errors/nessie/${name}`),
    '/transformations/1/router/routes/0/sink/postgresql/connectionString',
    '/transformations/1/router/routes/0/sink/postgresql/table',
    '/transformations/1/router/routes/1/sink/config/topic',
  ]);
  expect(secretRefsOf(flowOfSecrets).at(-1)).toEqual({
    pointer: '/transformations/1/router/routes/1/sink/config/topic',
    field: 'spec.transformations[1].router.routes[1].sink.config.topicSecretRef',
    name: 's',
    key: 't',
    namespace: 'ns',
  });
});

describe('values of Secrets', () => {
  const source = (config: object) => aFlow({ source: { type: 'kafka', config } });

  test('win over what the spec says', () => {
    const spec = source({ brokers: ['k'], topic: 'literal', topicSecretRef: ref('t') });
    expect(joinSecrets(spec, new Map([['/source/config/topic', 'secret']]))).toEqual(
      source({ brokers: ['k'], topic: 'secret', topicSecretRef: ref('t') }),
    );
  });

  test('of brokers are a list with commas', () => {
    const spec = source({ topic: 't', ...refs('brokers') });
    expect(joinSecrets(spec, new Map([['/source/config/brokers', ' a:1, b:2,,\n']]))).toEqual(
      source({ topic: 't', ...refs('brokers'), brokers: ['a:1', 'b:2'] }),
    );
  });

  test('keep their white space: a password may have some', () => {
    const spec = { sink: { type: 'postgresql', postgresql: refs('connectionString') } };
    expect(joinSecrets(spec, new Map([['/sink/postgresql/connectionString', ' p\n']]))).toMatchObject({
      sink: { postgresql: { connectionString: ' p\n' } },
    });
  });

  test('go only where a reference asks for them', () => {
    const secrets = new Map([
      ['/source/config/topic', 'x'],
      ['/source/config/other', 'x'],
      ['/replicas', 'x'],
    ]);
    const spec = source({ brokers: ['k'], topic: 't' });
    expect(joinSecrets(spec, secrets)).toEqual(spec);
  });

  test('leave the spec that was given alone', () => {
    const before = structuredClone(flowOfSecrets);
    joinSecrets(flowOfSecrets, new Map(secretRefsOf(flowOfSecrets).map(({ pointer }) => [pointer, 'x'])));
    expect(flowOfSecrets).toEqual(before);
  });
});

describe('a spec for the log', () => {
  test('hides secrets and shows the rest', () => {
    const spec = {
      source: { type: 'kafka', kafka: { brokers: ['k'], topic: 't', sasl: { username: 'u', password: 'hunter2' } } },
      sink: { type: 'postgresql', config: { connectionString: 'hunter2', table: 't', batchSize: 5 } },
      affinity: { nodeAffinity: {} },
    };
    expect(redacted(spec)).toEqual({
      source: { type: 'kafka', kafka: { brokers: ['k'], topic: 't', sasl: { username: 'u', password: '<redacted>' } } },
      sink: { type: 'postgresql', config: { connectionString: '<redacted>', table: 't', batchSize: 5 } },
      affinity: { nodeAffinity: {} },
    });
  });

  test.each<[string, unknown]>([
    ['a misspelled field', { sink: { type: 'postgresql', config: { conectionString: 'hunter2' } } }],
    [
      'a list where a text belongs',
      { sink: { type: 'postgresql', config: { connectionString: ['hunter2'], table: ['hunter2'] } } },
    ],
    ['a text where an object belongs', { source: 'hunter2', sink: { type: 'kafka', kafka: { sasl: 'hunter2' } } }],
    ['an unknown type', { sink: { type: 'redis', redis: { password: 'hunter2' }, config: { password: 'hunter2' } } }],
    ['the block of another type', { sink: { ...kafkaSink, postgresql: { connectionString: 'hunter2' } } }],
    ['the user of a URL', { source: { type: 'trino', trino: { serverURL: 'https://me:hunter2@trino' } } }],
    ['a key', { sink: { type: 'kafka', kafka: { tls: { keyFile: '-----BEGIN PRIVATE KEY-----\nhunter2' } } } }],
    ['a reference that is none', { sink: { type: 'kafka', kafka: { topicSecretRef: 'hunter2' } } }],
    [
      'a reference with more',
      { sink: { type: 'kafka', kafka: { topicSecretRef: { ...ref('a'), value: 'hunter2', name: ['hunter2'] } } } },
    ],
    ['no spec at all', 'hunter2'],
  ])('hides %s', (_name, spec) => {
    expect(JSON.stringify(redacted(spec))).not.toContain('hunter2');
  });

  test('shows nothing that came from a Secret, whatever field it is for', () => {
    fc.assert(
      fc.property(anyFlow, (spec) => {
        const values = new Map(secretRefsOf(spec).map(({ pointer }) => [pointer, 'hunter2']));
        const dump = JSON.stringify(redacted(joinSecrets(spec, values)));
        expect(dump).not.toContain('hunter2');
        // Only values go, the names of what refers to them stay.
        expect(secretRefsOf(JSON.parse(dump)).map(({ field }) => field)).toEqual(
          secretRefsOf(spec).map(({ field }) => field),
        );
      }),
    );
  });

  test('is made of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (spec) => {
        expect(() => [redacted(spec), secretRefsOf(spec), joinSecrets(spec, new Map())]).not.toThrow();
      }),
    );
  });
});
