import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { SASLMechanismValue, SASLOptions } from '@platformatic/kafka';
import { tlsOptions } from '../../tls.ts';
import type { KafkaConnectionConfig, SaslConfig } from './config.ts';

const PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const;
export type SecurityProtocol = (typeof PROTOCOLS)[number];

const MECHANISMS: Readonly<Record<string, SASLMechanismValue>> = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
};

/** What is spoken with the brokers. Throws if what was asked for is not what the blocks amount to. */
export function securityProtocolOf({ securityProtocol, tls, sasl }: KafkaConnectionConfig): SecurityProtocol {
  const meant = `${sasl ? 'SASL_' : ''}${tls ? 'SSL' : 'PLAINTEXT'}`;
  const wanted = (securityProtocol ?? meant).toUpperCase().replaceAll('-', '_');
  const protocol = PROTOCOLS.find((one) => one === wanted);
  if (protocol === undefined) {
    throw new Error(`securityProtocol "${securityProtocol}" is unknown; use one of ${PROTOCOLS.join(', ')}`);
  }
  const wants = { tls: protocol.endsWith('SSL'), sasl: protocol.startsWith('SASL') };
  for (const [block, isWanted] of Object.entries(wants)) {
    const isGiven = (block === 'tls' ? tls : sasl) !== undefined;
    if (isWanted && !isGiven) throw new Error(`securityProtocol ${protocol} needs ${block}`);
    if (!isWanted && isGiven)
      throw new Error(`securityProtocol ${protocol} is without ${block}; remove one of the two`);
  }
  return protocol;
}

/** The half of the client's options that says how to be let in. Reads the files that the configuration names. */
export function securityOptions(config: KafkaConnectionConfig): { tls?: TlsOptions; sasl?: SASLOptions } {
  securityProtocolOf(config);
  return {
    ...(config.tls && { tls: tlsOptions(config.tls) }),
    ...(config.sasl && { sasl: saslOptions(config.sasl) }),
  };
}

function saslOptions({ mechanism, username, password }: SaslConfig): SASLOptions {
  const known = MECHANISMS[(mechanism || 'plain').toLowerCase()];
  if (known === undefined) {
    throw new Error(`sasl.mechanism "${mechanism}" is unknown; use one of ${Object.keys(MECHANISMS).join(', ')}`);
  }
  return { mechanism: known, username, password };
}
