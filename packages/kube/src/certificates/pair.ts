import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

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

/** A certificate authority that may sign certificates, but no other authorities. */
export async function createAuthority(options: AuthorityOptions): Promise<Pair> {
  const signing = await loadSigning();
  return signing.createAuthority(options);
}

/** A certificate signed by the authority; it ends no later than the authority does. */
export async function issue(authority: Pair, options: IssueOptions): Promise<Pair> {
  const signing = await loadSigning();
  return signing.issue(authority, options);
}

/** It brings 5 MB of code with it, which an operator that never signs anything does without. */
const loadSigning = () => import('./signing.ts');

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
