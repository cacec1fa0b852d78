/** A real PostgreSQL for tests: its own data, its own port, gone when it stops. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

/** `settings`: further ones, as `name=value`. */
export async function startPostgres({
  settings: further = [],
}: {
  readonly settings?: readonly string[];
} = {}): Promise<PostgresServer> {
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
  const settings = [...CARELESS, ...further, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`];
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
