import { expect, test } from 'vitest';
import { aFlow, aSecret, kafkaSpec, polledSpec, secretsOf } from '../../test/states.ts';
import { resolveSecrets } from './secrets.ts';

const from = (namespace: string) =>
  aFlow(
    kafkaSpec({
      errors: { type: 'kafka', kafka: { brokers: ['k'], topicSecretRef: { name: 's', key: 'k', namespace } } },
    }),
  );

test('every reference has its value, as it is in the Secret, by where it belongs', () => {
  const ref = (key: string) => ({ name: 's', key });
  const route = { condition: 'a', sink: { type: 'kafka', kafka: { brokersSecretRef: ref('brokers'), topic: 't' } } };
  const flow = aFlow(
    polledSpec({
      transformations: [{ type: 'router', router: { routes: [route] } }],
      errors: { type: 'kafka', config: { brokers: ['k'], topic: 'e', tls: { caSecretRef: ref('ca') } } },
    }),
  );
  const secrets = secretsOf(
    aSecret('database', { url: ' postgres://ü@db\n' }),
    aSecret('s', { brokers: 'a, b', ca: 'PEM' }),
  );
  expect(resolveSecrets(flow, secrets, [])).toEqual({
    is: 'resolved',
    values: new Map([
      ['/source/postgresql/connectionString', ' postgres://ü@db\n'],
      ['/errors/config/tls/caFile', 'PEM'],
      ['/transformations/0/router/routes/0/sink/kafka/brokers', 'a, b'],
    ]),
  });
});

test.each([
  ['there is no such Secret', secretsOf(), 'failed to get secret shop/database (for its key url): not found'],
  ['it has no such key', secretsOf(aSecret('database', { uri: 'x' })), 'key url not found in secret shop/database'],
  ['the value is empty', secretsOf(aSecret('database', { url: '' })), 'key url in secret shop/database is empty'],
])('if %s, the field, the Secret and the key are named', (_what, secrets, problem) => {
  expect(resolveSecrets(aFlow(polledSpec()), secrets, [])).toEqual({
    is: 'unresolved',
    because: `spec.source.postgresql.connectionStringSecretRef: ${problem}`,
  });
});

test('all that is missing is told at once', () => {
  const flow = aFlow(
    polledSpec({ errors: { type: 'kafka', kafka: { brokers: ['k'], topicSecretRef: { name: 's', key: 'k' } } } }),
  );
  const { because } = { because: '', ...resolveSecrets(flow, secretsOf(), []) };
  expect(because).toMatch(/shop\/database .*; .*shop\/s /);
});

test('a Secret of another namespace is read only if the operator was told to allow it', () => {
  const secrets = secretsOf(aSecret('s', { k: 'topic' }, 'vault'));
  expect(resolveSecrets(from('vault'), secrets, ['other'])).toEqual({
    is: 'unresolved',
    because:
      'spec.errors.kafka.topicSecretRef: secret vault/s is in another namespace, which the operator was not told to allow',
  });
  expect(resolveSecrets(from('vault'), secrets, ['vault']).is).toBe('resolved');
  expect(resolveSecrets(from('shop'), secretsOf(aSecret('s', { k: 'topic' })), []).is).toBe('resolved');
});
