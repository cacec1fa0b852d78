// tsyringe, on which x509 is built, wants this to have been loaded before it.
import 'reflect-metadata';
import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

/** A certificate and its private key, both PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

export interface AuthorityOptions {
  readonly name: string;
  readonly validMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface IssueOptions extends AuthorityOptions {
  /** A peer is both: it presents itself with the same certificate to those that it calls and to those that call it. */
  readonly use: 'server' | 'client' | 'peer';
  /** The groups of a client, as Kubernetes reads them. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** Every TLS stack has it, and making a key takes a millisecond; RSA takes half a second. */
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
/** The clocks of a cluster differ a little; a certificate must not be from the future anywhere. */
const BACKDATE_MS = 60_000;

const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
const USAGES = { server: [serverAuth], client: [clientAuth], peer: [serverAuth, clientAuth] };

/** A certificate authority that may sign certificates, but no other authorities. */
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

/** A certificate signed by the authority; it ends no later than the authority does. */
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

/** When the (first) certificate ends, in milliseconds since the epoch. */
export function expiryOf(certificate: string): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

/** Whether the key is the certificate's; a pair that is being replaced can be read half old, half new. */
export function isPair({ certificate, key }: Pair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

export function isIssuedBy(certificate: string, authority: string): boolean {
  const issuer = new X509Certificate(authority);
  const subject = new X509Certificate(certificate);
  return subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
}

/** Whether it is good for all of these: names and addresses. */
export function isForAll(certificate: string, hosts: readonly string[]): boolean {
  const subject = new X509Certificate(certificate);
  return hosts.every((host) => (isIP(host) ? subject.checkIP(host) : subject.checkHost(host)) !== undefined);
}

/** The certificates of a bundle, one by one. */
export function certificatesIn(bundle: string): string[] {
  const found = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((certificate) => `${certificate}\n`);
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
