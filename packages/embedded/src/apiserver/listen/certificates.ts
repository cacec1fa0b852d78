import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** What a TLS server needs, and what its clients need to trust it. */
export interface ServingCertificate {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const YEAR = 365 * 24 * 3600 * 1000;

/** A fresh authority and one certificate for the given host. The authority's key is forgotten at once. */
export async function createServingCertificate(host: string, now: number): Promise<ServingCertificate> {
  const notBefore = new Date(now - 3600_000);
  const notAfter = new Date(now + 10 * YEAR);
  const authorityKeys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=polder-embedded',
    notBefore,
    notAfter,
    keys: authorityKeys,
    signingAlgorithm: EC,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  const certificate: X509Certificate = await X509CertificateGenerator.create({
    subject: 'CN=kube-apiserver',
    issuer: authority.subject,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: EC,
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: host },
        { type: 'dns', value: 'localhost' },
        { type: 'dns', value: 'kubernetes.default.svc' },
      ]),
    ],
  });
  const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { ca: authority.toString('pem'), certificate: certificate.toString('pem'), key };
}
