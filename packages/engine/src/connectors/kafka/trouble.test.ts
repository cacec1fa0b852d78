import {
  AuthenticationError,
  MultipleErrors,
  NetworkError,
  ProtocolError,
  TimeoutError,
  UserError,
} from '@platformatic/kafka';
import { expect, test } from 'vitest';
import { saysAnyOf, troubleOf } from './trouble.ts';

const connecting = (cause: Error) => new NetworkError('Connection to k:9092 failed.', { cause });
const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

test.for([
  [
    'a refused user, found below retries and brokers',
    new MultipleErrors('metadata failed 3 times.', [
      new MultipleErrors('Cannot connect to any broker.', [
        connecting(new AuthenticationError('SASL authentication failed.')),
      ]),
    ]),
    { type: 'auth_error', isRetryable: false, because: expect.stringContaining('check sasl.username') },
  ],
  [
    'a handshake that broke off is no refusal: the broker may just be going away',
    connecting(
      new AuthenticationError('Cannot find a suitable SASL mechanism.', {
        cause: new NetworkError('Connection closed'),
      }),
    ),
    { type: 'connection_error', isRetryable: true },
  ],
  [
    'a mechanism that is not offered',
    connecting(
      new AuthenticationError('Cannot find a suitable SASL mechanism.', {
        cause: new ProtocolError('UNSUPPORTED_SASL_MECHANISM'),
      }),
    ),
    { type: 'auth_error', isRetryable: false, because: expect.stringContaining('sasl.mechanism') },
  ],
  [
    'a certificate nobody knows',
    connecting(coded('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain')),
    { type: 'auth_error', isRetryable: false, because: expect.stringContaining('tls.caFile') },
  ],
  [
    'nobody there',
    connecting(coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1')),
    { type: 'connection_error', isRetryable: true, because: 'kafka k:9092: connect ECONNREFUSED 127.0.0.1:1' },
  ],
  ['no answer', new TimeoutError('Request timed out', { canRetry: true }), { type: 'timeout', isRetryable: true }],
  ['a leader that moved', new ProtocolError('NOT_LEADER_OR_FOLLOWER'), { type: 'transient', isRetryable: true }],
  [
    'a topic we may not use',
    new ProtocolError('TOPIC_AUTHORIZATION_FAILED'),
    { type: 'auth_error', isRetryable: false },
  ],
  ['a mistake of ours', new UserError('Unknown topic t.'), { type: 'unknown', isRetryable: false }],
  ['whatever else was thrown', 'oops', { type: 'unknown', isRetryable: true, because: 'kafka k:9092: oops' }],
] as const)('%s', ([, error, expected]) => {
  expect(troubleOf(error, 'kafka k:9092')).toMatchObject(expected);
});

test('what a broker said is found in the tree', () => {
  const error = new MultipleErrors('commit failed.', [new ProtocolError('ILLEGAL_GENERATION')]);
  expect(saysAnyOf(error, ['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION'])).toBe(true);
  expect(saysAnyOf(error, ['REBALANCE_IN_PROGRESS'])).toBe(false);
  expect(saysAnyOf(undefined, ['ILLEGAL_GENERATION'])).toBe(false);
});
