import { expect, test } from 'vitest';
import { securityOptions, securityProtocolOf } from './security.ts';

const brokers = ['k:9092'];
const sasl = { username: 'u', password: 'hush' };

test('what is spoken follows from the blocks', () => {
  expect(securityProtocolOf({ brokers })).toBe('PLAINTEXT');
  expect(securityProtocolOf({ brokers, tls: {} })).toBe('SSL');
  expect(securityProtocolOf({ brokers, sasl })).toBe('SASL_PLAINTEXT');
  expect(securityProtocolOf({ brokers, sasl, tls: {} })).toBe('SASL_SSL');
  expect(securityProtocolOf({ brokers, sasl, tls: {}, securityProtocol: 'sasl-ssl' })).toBe('SASL_SSL');
});

test.for([
  [{ brokers, securityProtocol: 'SASL_SSL', sasl }, 'securityProtocol SASL_SSL needs tls'],
  [{ brokers, securityProtocol: 'SASL_PLAINTEXT' }, 'securityProtocol SASL_PLAINTEXT needs sasl'],
  [{ brokers, securityProtocol: 'SASL_PLAINTEXT', sasl, tls: {} }, 'is without tls'],
  [{ brokers, securityProtocol: 'plaintext', sasl }, 'securityProtocol PLAINTEXT is without sasl'],
  [{ brokers, securityProtocol: 'TLS' }, '"TLS" is unknown; use one of PLAINTEXT, SSL'],
  [{ brokers, sasl: { ...sasl, mechanism: 'gssapi' } }, 'use one of plain, scram-sha-256, scram-sha-512'],
  [{ brokers, tls: { caFile: 'MIIBYjCCAQmgAwIBAgIQUgqthXENVz' } }, 'tls.caFile is neither PEM text nor a file'],
] as const)('%j is refused', ([config, because]) => {
  expect(() => securityOptions(config)).toThrow(because);
});

test('a certificate authority turns verification on, whatever else is said', () => {
  const caFile = '-----BEGIN CERTIFICATE-----\n…';
  expect(securityOptions({ brokers, tls: { insecureSkipVerify: true } }).tls?.rejectUnauthorized).toBe(false);
  expect(securityOptions({ brokers, tls: { insecureSkipVerify: true, caFile } }).tls?.rejectUnauthorized).toBe(true);
  expect(securityOptions({ brokers, tls: {} }).tls).toEqual({ minVersion: 'TLSv1.2', rejectUnauthorized: true });
});
