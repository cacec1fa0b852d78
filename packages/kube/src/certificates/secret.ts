import type { Kind, KubernetesObject } from '../kinds/index.ts';
import { certificatesIn, isPair } from './pair.ts';
import type { Held } from './rotation.ts';

export interface CertificateSecret extends KubernetesObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export const SECRETS: Kind<CertificateSecret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

/** The names that cert-manager uses, too, so that the same mount works for both. */
export function secretData({ authorities, authorityKey, serving }: Held): Readonly<Record<string, string>> {
  return {
    'ca.crt': encode(authorities.join('')),
    'ca.key': encode(authorityKey),
    'tls.crt': encode(serving.certificate),
    'tls.key': encode(serving.key),
  };
}

/** Undefined if it is not all there, or does not belong together. */
export function heldIn({ data = {} }: CertificateSecret): Held | undefined {
  const [authority, ...older] = certificatesIn(decode(data['ca.crt']));
  const authorityKey = decode(data['ca.key']);
  const serving = { certificate: decode(data['tls.crt']), key: decode(data['tls.key']) };
  if (authority === undefined || !isPair({ certificate: authority, key: authorityKey }) || !isPair(serving))
    return undefined;
  return { authorities: [authority, ...older], authorityKey, serving };
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function decode(data: string | undefined): string {
  return Buffer.from(data ?? '', 'base64').toString('utf8');
}
