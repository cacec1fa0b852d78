import 'reflect-metadata';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const TEN_YEARS = 10 * 365 * 24 * 3600 * 1000;

/** A certificate and its private key, both as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority extends KeyPair {
  /** For a server: the host names and addresses that its clients use. */
  issueServing(commonName: string, hosts: readonly string[]): Promise<KeyPair>;
  /** For a client: the API server reads the user from the common name and the group from the organisation. */
  issueClient(user: string, group?: string): Promise<KeyPair>;
}

export async function createAuthority(commonName: string): Promise<Authority> {
  const keys = await generateKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    ...validity(),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });

  const issue = async (subject: x509.JsonName, extensions: x509.Extension[]): Promise<KeyPair> => {
    const own = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: authority.subject,
      ...validity(),
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true), ...extensions],
    });
    return { certificate: certificate.toString('pem'), key: await privateKeyPem(own.privateKey) };
  };

  return {
    certificate: authority.toString('pem'),
    key: await privateKeyPem(keys.privateKey),
    issueServing: (name, hosts) =>
      issue(
        [{ CN: [name] }],
        [
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(
            hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
          ),
        ],
      ),
    issueClient: (user, group) =>
      issue(group === undefined ? [{ CN: [user] }] : [{ O: [group] }, { CN: [user] }], [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]),
  };
}

/**
 * A private key alone, for signing service account tokens. In the older encoding: it is the one from which the API server
 * also reads the public half, so that a single file does.
 */
export function createSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

function validity() {
  // Begins in the past: the clocks of two processes on one machine may still be read in the wrong order.
  const notBefore = new Date(Date.now() - 60_000);
  return { notBefore, notAfter: new Date(notBefore.getTime() + TEN_YEARS) };
}

async function generateKeys() {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
