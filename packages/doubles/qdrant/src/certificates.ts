import { X509Certificate } from 'node:crypto';

/** What a process read when it started: it shows the one, and takes what the other has signed. PEM. */
export interface PeerCertificates {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const SERVER = '1.3.6.1.5.5.7.3.1';
const CLIENT = '1.3.6.1.5.5.7.3.2';

/** Whether a call from one peer to another gets through: both show what they have, and each looks at the other's. */
export function isCallTaken(
  caller: PeerCertificates | undefined,
  called: PeerCertificates | undefined,
  host: string,
  now: number,
): boolean {
  if (!caller || !called) return caller === called;
  return isTaken(called, caller.ca, SERVER, now) && isFor(called, host) && isTaken(caller, called.ca, CLIENT, now);
}

const isFor = ({ cert }: PeerCertificates, host: string): boolean => read(cert)?.checkHost(host) !== undefined;

function isTaken({ cert }: PeerCertificates, bundle: string, usage: string, now: number): boolean {
  const shown = read(cert);
  if (!shown || shown.validToDate.getTime() <= now || shown.validFromDate.getTime() > now) return false;
  // One that says nothing of what it is for is for everything.
  if (shown.keyUsage !== undefined && !shown.keyUsage.includes(usage)) return false;
  return authoritiesIn(bundle).some((one) => shown.checkIssued(one) && shown.verify(one.publicKey));
}

const authoritiesIn = (bundle: string): readonly X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap((one) => read(one) ?? []);

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
