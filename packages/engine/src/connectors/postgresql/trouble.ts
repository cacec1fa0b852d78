import type { ErrorType } from '../../message.ts';
import { distrustOf } from '../../tls.ts';

/** What went wrong between us and the server, told apart by what helps. Its text names no secret and no row but the value at fault. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly type: ErrorType;
  readonly isRetryable: boolean;
  /** A row is at fault: the others can be written without it. */
  readonly isAboutRow: boolean;
  /** Undefined: the server said nothing, the connection failed. */
  readonly sqlState: string | undefined;

  constructor(message: string, trouble: Partial<Trouble> & { readonly sqlState?: string | undefined } = {}) {
    super(message);
    this.type = trouble.type ?? 'unknown';
    this.isRetryable = trouble.isRetryable ?? false;
    this.isAboutRow = trouble.isAboutRow ?? false;
    this.sqlState = trouble.sqlState;
  }
}

interface Trouble {
  readonly type: ErrorType;
  readonly isRetryable: boolean;
  readonly isAboutRow: boolean;
}

const ofRow = (type: ErrorType): Trouble => ({ type, isRetryable: false, isAboutRow: true });
const passing = (type: ErrorType): Trouble => ({ type, isRetryable: true, isAboutRow: false });
const lasting = (type: ErrorType): Trouble => ({ type, isRetryable: false, isAboutRow: false });

/** By the first two characters of the SQLSTATE, unless the whole code is in `CODES`. */
const CLASSES: Readonly<Record<string, Trouble>> = {
  '08': passing('connection_error'),
  '21': ofRow('invalid_data'),
  '22': ofRow('invalid_data'),
  '23': ofRow('constraint_violation'),
  '28': lasting('auth_error'),
  '40': passing('transient'),
  '44': ofRow('constraint_violation'),
  '53': passing('transient'),
  '54': ofRow('invalid_data'),
  '57': passing('transient'),
  '58': passing('transient'),
  // Raised by a trigger or a function of the user: it has looked at the row.
  P0: ofRow('constraint_violation'),
};

const CODES: Readonly<Record<string, Trouble>> = {
  // A server that was demoted to a standby; the next connection may reach the new primary.
  '25006': passing('transient'),
  '42501': lasting('auth_error'),
  '55006': passing('transient'),
  '55P03': passing('transient'),
  '57014': passing('timeout'),
  '57P01': passing('connection_error'),
  '57P02': passing('connection_error'),
};

const SQL_STATE = /^[0-9A-Z]{5}$/;

/** Texts of `pg` and codes of Node for connections that could not be made or broke. */
const BROKEN =
  /ECONN|EPIPE|EAI_AGAIN|ENOTFOUND|EHOST|ENETUN|ENOENT|Connection (?:terminated|ended)|not queryable|connection error/i;
const ALERT = /^ERR_SSL_.*ALERT/;
const LATE = /ETIMEDOUT|timeout/i;

/** `secrets` never leave in its text, wherever they came from. The thrown value is not kept: an invalid URL carries itself. */
export function explain(thrown: unknown, secrets: readonly string[] = []): PostgresError {
  if (thrown instanceof PostgresError) return thrown;
  const { message, code } = partsOf(thrown);
  const text = secrets.reduce((left, secret) => left.replaceAll(secret, '***'), message);
  if (!SQL_STATE.test(code) || code.startsWith('E'))
    return new PostgresError(text, connectionTrouble(`${code} ${message}`));
  return new PostgresError(`${text} (SQLSTATE ${code})`, { ...stateTrouble(code, message), sqlState: code });
}

/** The server was asked for TLS and declined: `pg` says so in these words alone. */
export const isWithoutTls = (thrown: unknown): boolean => partsOf(thrown).message.includes('does not support SSL');

/** Of a connection that could not be encrypted as `mode` of sslmode wants it: which side has to change what. */
export function tlsTrouble(thrown: unknown, mode: string): PostgresError | undefined {
  if (thrown instanceof PostgresError) return undefined;
  const { message, code } = partsOf(thrown);
  const refused = (because: string) => new PostgresError(because, lasting('auth_error'));
  if (isWithoutTls(thrown))
    return refused(`the server has no TLS, and sslmode is ${mode}: turn ssl on there, or use sslmode=disable`);
  switch (distrustOf(code)) {
    case 'expired':
      return refused("the server's certificate has expired; renew it there");
    case 'other name':
      return refused(
        `the server's certificate is not for this host (${message}); use a name that it has, or verify-ca`,
      );
    case 'unknown authority':
      return refused(`the server's certificate is not trusted (${message}); check sslrootcert, the authority to trust`);
    case undefined:
  }
  if (code.includes('KEY_VALUES_MISMATCH')) return refused('sslkey is not the key of sslcert');
  if (code.startsWith('ERR_OSSL')) return refused(`sslrootcert, sslcert or sslkey can't be used (${code})`);
  // What the server says about our certificate.
  if (ALERT.test(code)) return refused(`the server refused the TLS connection (${code}); check sslcert and sslkey`);
  return undefined;
}

function partsOf(thrown: unknown): { message: string; code: string } {
  if (!(thrown instanceof Error)) return { message: String(thrown), code: '' };
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  // Several addresses of one host were tried: the error of the whole is empty.
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : undefined;
  return { message: thrown.message || (first instanceof Error ? first.message : code), code };
}

function connectionTrouble(text: string): Trouble {
  if (LATE.test(text)) return passing('timeout');
  return BROKEN.test(text) ? passing('connection_error') : lasting('unknown');
}

function stateTrouble(code: string, message: string): Trouble {
  // The one refusal of rights that depends on the row.
  if (code === '42501' && message.includes('row-level security')) return ofRow('constraint_violation');
  return CODES[code] ?? CLASSES[code.slice(0, 2)] ?? lasting('unknown');
}
