/** A real PostgreSQL for tests: its own data, its own port, gone when it stops. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Pair } from '@polder/kube/certificates';
import { makeFolder, postgresPrograms, postgresUser } from '@polder/polder/postgres';
import pg from 'pg';
import { freePorts } from '../free-ports.ts';

export interface PostgresServer {
  /** Of an administrator, who needs no password. */
  readonly url: string;
  /** Runs statements as the administrator; the rows come as objects. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** Nothing that is written here must outlive a crash. */
const CARELESS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

export interface PostgresOptions {
  /** Further ones, as `name=value`. */
  readonly settings?: readonly string[];
  /** With it the server takes connections both ways: encrypted, and in clear text. */
  readonly tls?: ServerTls;
}

export interface ServerTls {
  readonly serving: Pair;
  /** The authority (PEM) of clients; the user `certified` has to show a certificate of it that names him. */
  readonly clients: string;
}

export async function startPostgres({ settings: further = [], tls }: PostgresOptions = {}): Promise<PostgresServer> {
  const dir = mkdtempSync(join(tmpdir(), 'polder-postgres-'));
  makeFolder(dir);
  const programs = await postgresPrograms(dir);
  const data = join(dir, 'data');
  const [port = 0] = await freePorts(1);
  const format = [
    '--username=postgres',
    '--auth=trust',
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  await promisify(execFile)(programs.initdb, ['-D', data, ...format], { ...postgresUser, cwd: dir });
  const encrypted = tls ? tlsSettings(dir, tls) : [];
  const settings = [
    ...CARELESS,
    ...encrypted,
    ...further,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `port=${port}`,
  ];
  const server = spawn(programs.postgres, ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...postgresUser,
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const killed = () => server.kill('SIGKILL');
  process.once('exit', killed);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  try {
    await isReady(server);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    url,
    async sql(text, values = []) {
      const result = await client.query<Record<string, unknown>>(text, values.length > 0 ? [...values] : undefined);
      return result.rows;
    },
    async stop() {
      process.off('exit', killed);
      await client.end();
      const exited = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT'); // fast shutdown: sessions are ended
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function tlsSettings(dir: string, { serving, clients }: ServerTls): string[] {
  const write = (name: string, text: string) => {
    const file = join(dir, name);
    // A key that others could read is refused.
    writeFileSync(file, text, { mode: 0o600 });
    if (postgresUser) chownSync(file, postgresUser.uid, postgresUser.gid);
    return file;
  };
  const rules = ['hostssl all certified all cert', 'host all all all trust'];
  return [
    'ssl=on',
    `ssl_cert_file=${write('server.crt', serving.certificate)}`,
    `ssl_key_file=${write('server.key', serving.key)}`,
    `ssl_ca_file=${write('clients.crt', clients)}`,
    `hba_file=${write('hba.conf', rules.map((rule) => `${rule}\n`).join(''))}`,
  ];
}

/** Its log says so; what else it said is the error when it ends instead. */
function isReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.on('data', (chunk: Buffer) => {
      if (log === 'ready') return;
      log += chunk.toString();
      if (!log.includes('ready to accept connections')) return;
      log = 'ready';
      resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
  });
}
