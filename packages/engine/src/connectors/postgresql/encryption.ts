import type { ConnectionOptions } from 'node:tls';
import { messageOf } from '../../log.ts';
import { readPem } from '../../tls.ts';
import { PostgresError } from './trouble.ts';

/** As libpq names and means them, but for `allow`, which encrypts only where the server insists. */
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof MODES)[number];

export interface Encryption {
  readonly mode: SslMode;
  /** TLS from the first byte on, instead of asking the server for it first. */
  readonly isDirect: boolean;
  /** What a TLS connection is made with. A fresh object: `pg` changes it. */
  readonly options: ConnectionOptions;
}

const PARAMETERS = ['ssl', 'sslmode', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey'] as const;

/** What the parameters of the address ask for. Reads the files they name, anew each time: certificates are renewed. */
export function encryptionOf(url: URL): Encryption {
  const [ssl, sslmode, negotiation, root, cert, key] = PARAMETERS.map(
    (name) => url.searchParams.get(name) ?? undefined,
  );
  const isDirect = negotiation === 'direct';
  const isSystem = root === 'system';
  // All as libpq has it: the way of JDBC to say it, that who does not ask can't go on without, and that authorities everybody
  // can buy from prove nothing without the name.
  const otherwise = ssl === 'true' || isDirect ? 'require' : 'prefer';
  const mode = isSystem ? 'verify-full' : modeOf(sslmode ?? otherwise);
  if (mode === 'verify-ca' && root === undefined)
    throw new PostgresError(
      'sslmode=verify-ca needs sslrootcert, the authority to trust; without one use sslmode=verify-full',
    );
  if ((cert === undefined) !== (key === undefined))
    throw new PostgresError(cert === undefined ? 'sslkey needs sslcert' : 'sslcert needs sslkey, the key of it');
  if (mode === 'disable') return { mode, isDirect: false, options: {} };
  return {
    mode,
    isDirect,
    options: {
      // With a CA there is something to verify against, so it is verified.
      rejectUnauthorized: root !== undefined || mode === 'verify-full',
      ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
      ...(root === undefined || isSystem ? {} : { ca: pemOf('sslrootcert', root) }),
      ...(cert === undefined || key === undefined ? {} : { cert: pemOf('sslcert', cert), key: pemOf('sslkey', key) }),
    },
  };
}

/** The address without what `encryptionOf` has read: `pg` would read it again, and differently. */
export function withoutEncryption(url: URL): URL {
  const bare = new URL(url);
  for (const name of PARAMETERS) bare.searchParams.delete(name);
  return bare;
}

function modeOf(text: string): SslMode {
  const mode = MODES.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new PostgresError(`sslmode ${JSON.stringify(text)} is unknown; use one of ${MODES.join(', ')}`);
}

function pemOf(parameter: string, pathOrText: string): string {
  try {
    return readPem(parameter, pathOrText);
  } catch (error) {
    throw new PostgresError(messageOf(error));
  }
}
