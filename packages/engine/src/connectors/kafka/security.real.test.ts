import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { createTopic } from '../../../../../tools/kafka/topics.ts';
import type { KafkaConnectionConfig } from './config.ts';
import { isMessage, memoryLog, message, sourceOf, take } from './fixture.ts';
import { KafkaSink } from './sink.ts';

const { plaintext, saslPlaintext, saslSsl, username, password, authority, stranger } = inject('kafka');

const tls = { caFile: authority };
const sasl = { username, password };

async function roundTrip(config: KafkaConnectionConfig, signal: AbortSignal): Promise<readonly (string | undefined)[]> {
  const topic = await createTopic(plaintext, 1);
  const sink = new KafkaSink({ config: { ...config, topic } });
  const source = sourceOf({ ...config, topic, consumerGroup: topic });
  try {
    await sink.connect(signal);
    expect(await sink.write([message('through')], signal)).toEqual([]);
    await source.connect(signal);
    return (await take(source, 1, signal)).filter(isMessage).map(({ payload }) => payload?.text);
  } finally {
    await Promise.all([sink.close(), source.close()]);
  }
}

describe('the right credentials', () => {
  test.for([
    ['PLAIN', { brokers: [saslPlaintext], sasl }],
    ['SCRAM-SHA-256', { brokers: [saslPlaintext], sasl: { ...sasl, mechanism: 'scram-sha-256' } }],
    ['SCRAM-SHA-512', { brokers: [saslPlaintext], sasl: { ...sasl, mechanism: 'scram-sha-512' } }],
    ['TLS and PLAIN', { brokers: [saslSsl], tls, sasl, securityProtocol: 'sasl-ssl' }],
    ['TLS and SCRAM-SHA-512', { brokers: [saslSsl], tls, sasl: { ...sasl, mechanism: 'scram-sha-512' } }],
    ['unverified TLS', { brokers: [saslSsl], tls: { insecureSkipVerify: true }, sasl }],
  ] as const)('%s: let us in', async ([, config], { signal }) => {
    expect(await roundTrip(config, signal)).toEqual(['through']);
  });

  test('an authority may be the path of a file', async ({ signal }) => {
    const dir = await mkdtemp(join(tmpdir(), 'polder-kafka-ca-'));
    writeFileSync(join(dir, 'ca.crt'), authority);
    expect(await roundTrip({ brokers: [saslSsl], tls: { caFile: join(dir, 'ca.crt') }, sasl }, signal)).toEqual([
      'through',
    ]);
    await rm(dir, { recursive: true });
  });
});

describe('one error, clear and without the password', () => {
  const wrong = 'wr0ng-p4ssw0rd';
  test.for([
    ['a wrong password (PLAIN)', { brokers: [saslPlaintext], sasl: { username, password: wrong } }, /refused the user/],
    [
      'a wrong password (SCRAM)',
      { brokers: [saslSsl], tls, sasl: { username, password: wrong, mechanism: 'scram-sha-256' } },
      /refused the user/,
    ],
    [
      'an unknown user',
      { brokers: [saslPlaintext], sasl: { username: 'nobody', password: wrong } },
      /refused the user/,
    ],
    [
      'an authority that did not sign the broker’s certificate',
      { brokers: [saslSsl], tls: { caFile: stranger }, sasl },
      /certificate is not trusted.*tls\.caFile/,
    ],
    [
      'no authority, but a certificate nobody knows',
      { brokers: [saslSsl], tls: {}, sasl },
      /certificate is not trusted/,
    ],
    ['TLS where there is none', { brokers: [saslPlaintext], tls, sasl }, /does not speak TLS/],
    ['no TLS where there is some', { brokers: [saslSsl], sasl }, /speaks TLS here, add tls/],
    ['neither TLS nor a user where both are asked for', { brokers: [saslSsl] }, /speaks TLS here; add tls/],
    ['credentials where none are asked for', { brokers: [plaintext], sasl }, /does not (offer|ask for a user)/],
    ['nobody there', { brokers: ['127.0.0.1:1'] }, /ECONNREFUSED/],
  ] as const)('%s', async ([, config, expected], { signal }) => {
    const log = memoryLog();
    const source = sourceOf({ ...config, topic: 'any', consumerGroup: 'any' }, log);
    const sink = new KafkaSink({ config: { ...config, topic: 'any' } });
    for (const connector of [source, sink]) {
      const error: unknown = await connector.connect(signal).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(Error);
      const said = error instanceof Error ? `${error.message}\n${error.stack}\n${JSON.stringify(error)}` : '';
      expect(said).toMatch(expected);
      expect(said.split('\n')[0]).toMatch(new RegExp(`kafka ${config.brokers[0]}`));
      expect(said).not.toContain(wrong);
      expect(said).not.toContain(password);
      await connector.close();
    }
    expect(log.lines.join('\n')).not.toContain(wrong);
  });
});
