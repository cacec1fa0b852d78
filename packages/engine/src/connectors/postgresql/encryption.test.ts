import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issue, type Pair } from '@polder/kube/certificates';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../../../tools/postgres/start.ts';
import { Connection } from './connection.ts';

const never = new AbortController().signal;
const term = { validMs: 3_600_000, now: Date.now() };

let plain: PostgresServer;
let encrypted: PostgresServer;
let authority: Pair;
let stranger: Pair;
let certified: Pair;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'polder-tls-'));
  authority = await createAuthority({ name: 'ours', ...term });
  stranger = await createAuthority({ name: 'stranger', ...term });
  const clients = await createAuthority({ name: 'clients', ...term });
  // By its name alone: the address 127.0.0.1 is not in it.
  const serving = await issue(authority, { name: 'db', use: 'server', dnsNames: ['localhost'], ...term });
  certified = await issue(clients, { name: 'certified', use: 'client', ...term });
  [plain, encrypted] = await Promise.all([
    startPostgres(),
    startPostgres({ tls: { serving, clients: clients.certificate } }),
  ]);
  await encrypted.sql('CREATE ROLE certified LOGIN');
}, 60_000);

afterAll(async () => {
  await Promise.all([plain.stop(), encrypted.stop()]);
  rmSync(dir, { recursive: true, force: true });
});

interface Parameters {
  readonly [name: string]: string;
}

function addressOf(server: PostgresServer, parameters: Parameters, host = '127.0.0.1'): string {
  const url = new URL(server.url);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** How the server sees it: encrypted or not, and for whom. */
async function seen(connectionString: string): Promise<string> {
  const connection = new Connection(connectionString);
  try {
    await connection.connect(never);
    const { rows } = await connection.query(
      `SELECT CASE WHEN ssl THEN 'TLS' ELSE 'clear text' END || ' as ' || current_user
       FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
      [],
      never,
    );
    return String(rows[0]?.[0]);
  } finally {
    await connection.close();
  }
}

const refusal = (connectionString: string): Promise<unknown> => seen(connectionString).catch((error: unknown) => error);

const TLS = 'TLS as postgres';
const CLEAR = 'clear text as postgres';

describe('a server with TLS', () => {
  test.for<[Parameters, string]>([
    [{}, TLS],
    [{ sslmode: 'prefer' }, TLS],
    [{ sslmode: 'require' }, TLS],
    [{ ssl: 'true' }, TLS],
    [{ sslnegotiation: 'direct' }, TLS],
    [{ sslmode: 'disable' }, CLEAR],
  ])('is asked for it as %j says, without asking who it is', async ([parameters, expected]) => {
    expect(await seen(addressOf(encrypted, parameters))).toBe(expected);
  });

  test('is believed by the authority that signed its certificate, given as text or as a file', async () => {
    const file = join(dir, 'ca.crt');
    writeFileSync(file, authority.certificate);
    for (const sslrootcert of [authority.certificate, file]) {
      expect(await seen(addressOf(encrypted, { sslmode: 'verify-ca', sslrootcert }))).toBe(TLS);
      expect(await seen(addressOf(encrypted, { sslmode: 'verify-full', sslrootcert }, 'localhost'))).toBe(TLS);
    }
    const words = `host=localhost port=${new URL(encrypted.url).port} user=postgres sslmode=verify-full sslrootcert='${authority.certificate}'`;
    expect(await seen(words)).toBe(TLS);
  });

  test.for([
    { sslmode: 'verify-ca' },
    { sslmode: 'verify-full' },
    { sslmode: 'verify-full', sslnegotiation: 'direct' },
    // Also where libpq would not look at it: who names an authority wants it to count.
    { sslmode: 'require' },
    {},
  ])('is not believed by another one: %j', async (parameters) => {
    const address = addressOf(encrypted, { ...parameters, sslrootcert: stranger.certificate }, 'localhost');
    expect(await refusal(address)).toMatchObject({
      message: expect.stringMatching(
        /^the server's certificate is not trusted \(.+\); check sslrootcert, the authority to trust$/,
      ),
      type: 'auth_error',
      isRetryable: false,
    });
  });

  test('is not believed by the authorities of the system either, which verify-full has without sslrootcert', async () => {
    for (const parameters of [{ sslmode: 'verify-full' }, { sslrootcert: 'system' }])
      expect(await refusal(addressOf(encrypted, parameters, 'localhost'))).toMatchObject({
        message: expect.stringContaining('is not trusted'),
      });
  });

  test('has to be who it was called, with verify-full', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: authority.certificate };
    expect(await refusal(addressOf(encrypted, parameters))).toMatchObject({
      message: expect.stringMatching(/^the server's certificate is not for this host \(.*127\.0\.0\.1.*\); use a name/),
      type: 'auth_error',
      isRetryable: false,
    });
  });

  test('may want to know who we are', async () => {
    const show = (pair: Pair) => ({ sslmode: 'require', sslcert: pair.certificate, sslkey: pair.key });
    const as = (address: string) => address.replace('postgres@', 'certified@');
    expect(await seen(as(addressOf(encrypted, show(certified))))).toBe('TLS as certified');
    expect(await refusal(as(addressOf(encrypted, { sslmode: 'require' })))).toMatchObject({
      message: expect.stringContaining('connection requires a valid client certificate (SQLSTATE 28000)'),
      type: 'auth_error',
      isRetryable: false,
    });
    const other = await issue(stranger, { name: 'certified', use: 'client', ...term });
    expect(await refusal(as(addressOf(encrypted, show(other))))).toMatchObject({
      message: expect.stringMatching(/^the server refused the TLS connection \(.+\); check sslcert and sslkey$/),
      type: 'auth_error',
      isRetryable: false,
    });
  });
});

describe('a server without TLS', () => {
  test('is refused where TLS is demanded, and nothing was said to it', async () => {
    for (const parameters of [
      { sslmode: 'require' },
      { sslmode: 'verify-full' },
      { sslmode: 'verify-ca', sslrootcert: authority.certificate },
      { ssl: 'true' },
    ])
      expect(await refusal(addressOf(plain, parameters))).toMatchObject({
        message: expect.stringMatching(/^the server has no TLS, and sslmode is .+: turn ssl on there, or use sslmode/),
        type: 'auth_error',
        isRetryable: false,
      });
  });

  test('will do where it is only preferred', async () => {
    expect(await seen(addressOf(plain, {}))).toBe(CLEAR);
    expect(await seen(addressOf(plain, { sslmode: 'prefer' }))).toBe(CLEAR);
  });
});

test('parameters that make no sense are told before anybody is connected to, without a word of a key', async () => {
  const { certificate, key } = certified;
  const body = key.split('\n').slice(1).join('\n');
  const cases: readonly (readonly [Parameters, string])[] = [
    [{ sslmode: 'verify_full' }, 'sslmode "verify_full" is unknown; use one of disable, prefer, require, verify-ca'],
    [{ sslmode: 'verify-ca' }, 'sslmode=verify-ca needs sslrootcert'],
    [{ sslrootcert: '/no/such/ca.crt' }, 'sslrootcert is neither PEM text nor a file that can be read (ENOENT)'],
    [{ sslcert: certificate }, 'sslcert needs sslkey'],
    [{ sslkey: key }, 'sslkey needs sslcert'],
    [{ sslcert: certificate, sslkey: body }, 'sslkey is neither PEM text nor a file that can be read'],
    [{ sslcert: certificate, sslkey: authority.key }, 'sslkey is not the key of sslcert'],
    [{ sslcert: certificate, sslkey: key.replace(/\n.{9}/, '\n') }, "sslrootcert, sslcert or sslkey can't be used"],
  ];
  for (const [parameters, because] of cases) {
    const error = await refusal(addressOf(encrypted, parameters));
    expect(error).toMatchObject({ message: expect.stringContaining(because), isRetryable: false });
    expect(String(error)).not.toContain(body.slice(10, 30));
  }
});
