import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** The block `tls` of a connector. `caFile`, `certFile` and `keyFile` are paths, or the text of the PEM itself. */
export interface TlsConfig {
  /** Without effect beside a `caFile`. */
  readonly insecureSkipVerify?: boolean | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Reads the files that the configuration names. */
export function tlsOptions({ insecureSkipVerify, caFile, certFile, keyFile }: TlsConfig): ConnectionOptions {
  // With a CA there is something to verify against, so it is verified.
  const isVerified = caFile !== undefined || insecureSkipVerify !== true;
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: isVerified,
    ...(caFile !== undefined && { ca: readPem('tls.caFile', caFile) }),
    ...(certFile !== undefined &&
      keyFile !== undefined && { cert: readPem('tls.certFile', certFile), key: readPem('tls.keyFile', keyFile) }),
  };
}

/** Certificates and keys are given as text, as Secrets have them, or as a path. `field` is who asks, for messages. */
export function readPem(field: string, pathOrText: string): string {
  if (pathOrText.trimStart().startsWith('-----BEGIN')) return pathOrText;
  try {
    return readFileSync(pathOrText, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    // The value is not repeated: it may be a key whose first line got lost.
    throw new Error(`${field} is neither PEM text nor a file that can be read (${code})`, { cause: error });
  }
}

export type Distrust = 'expired' | 'other name' | 'unknown authority';

/** Why the certificate of the other side was not believed, by the code of the error. Undefined: that was not it. */
export function distrustOf(code: string): Distrust | undefined {
  if (code === 'CERT_HAS_EXPIRED') return 'expired';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'other name';
  return /CERT|VERIFY|ISSUER|SELF_SIGNED/.test(code) ? 'unknown authority' : undefined;
}
