// tsyringe, on which x509 is built, wants this to have been loaded before it.
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { AuthorityOptions, IssueOptions, Pair } from './pair.ts';

x509.cryptoProvider.set(webcrypto);

/** Every TLS stack has it, and making a key takes a millisecond; RSA takes half a second. */
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
/** The clocks of a cluster differ a little; a certificate must not be from the future anywhere. */
const BACKDATE_MS = 60_000;

const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
const USAGES = { server: [serverAuth], client: [clientAuth], peer: [serverAuth, clientAuth] };

export async function createAuthority({ name, validMs, now }: AuthorityOptions): Promise<Pair> {
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    serialNumber: serialNumber(),
    notBefore: new Date(now - BACKDATE_MS),
    notAfter: new Date(now + validMs),
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pemOf(certificate), key: await keyPem(keys.privateKey) };
}

export async function issue(authority: Pair, options: IssueOptions): Promise<Pair> {
  const { name, use, organizations = [], dnsNames = [], ipAddresses = [], validMs, now } = options;
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const alternatives: x509.JsonGeneralNames = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [...organizations.map((organization) => ({ O: [organization] })), { CN: [name] }],
    issuer: issuer.subjectName.toJSON(),
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    serialNumber: serialNumber(),
    notBefore: new Date(now - BACKDATE_MS),
    notAfter: new Date(Math.min(now + validMs, issuer.notAfter.getTime())),
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(USAGES[use]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
    ],
  });
  return { certificate: pemOf(certificate), key: await keyPem(keys.privateKey) };
}

/** 16 random bytes; the top bit would make it a negative number, and a zero byte in front is not allowed either. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

function pemOf(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  // Through Node's own reader, which also takes the older spelling `EC PRIVATE KEY`.
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', new Uint8Array(der), CURVE, false, ['sign']);
}
