/**
 * What a container of the image `postgres` runs on this machine: a real PostgreSQL, told by the variables that the image knows
 * (`POSTGRES_USER`, `POSTGRES_PASSWORD`, `POSTGRES_DB`, `PGDATA`, `*.sql` in `/docker-entrypoint-initdb.d`).
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { makeFolder, type PostgresPrograms, postgresPrograms, postgresUser } from './programs.ts';

interface Settings {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Where it keeps its data. */
  readonly folder: string;
  /** A folder of scripts to run in a new database. */
  readonly scripts: string;
  readonly address: string;
}

const PORT = 5_432;

function settingsIn(env: NodeJS.ProcessEnv): Settings {
  const { POSTGRES_USER: user = 'postgres', POSTGRES_PASSWORD: password } = env;
  if (!password) throw new Error('POSTGRES_PASSWORD is not set; give the superuser a password');
  const data = env['PGDATA'] || join(homedir(), 'pgdata');
  return {
    user,
    password,
    database: env['POSTGRES_DB'] || user,
    // Nobody can't enter a folder of root's: what root's cluster keeps there is, for the time being, elsewhere.
    folder: postgresUser ? join('/tmp', `polder-postgres-${digest(data)}`) : data,
    scripts: env['POLDER_INITDB'] ?? '',
    address: env['POLDER_POD_IP'] ?? '127.0.0.1',
  };
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** A server that ends with this program, and this program with it. */
function startServer({ postgres }: PostgresPrograms, data: string, settings: readonly string[]) {
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(postgres, args, { ...postgresUser, cwd: '/', stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(server, 'exit');
  // A fast shutdown: sessions are ended, and nothing has to be recovered. A smart one would wait for them for ever.
  return { server, ended, stop: () => server.kill('SIGINT') };
}

/** In a folder of another name until all is done, so that a crash on the way leaves no half of a database. */
async function initialise(settings: Settings, programs: PostgresPrograms, data: string): Promise<void> {
  const part = `${data}.part`;
  rmSync(part, { recursive: true, force: true });
  const passwords = join(settings.folder, 'password');
  writeFileSync(passwords, settings.password, { mode: 0o644 });
  const format = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'];
  const args = ['-D', part, `--username=${settings.user}`, `--pwfile=${passwords}`, ...format];
  await promisify(execFile)(programs.initdb, args, { ...postgresUser, cwd: '/' });
  rmSync(passwords);
  // Reached through a socket alone, so that nobody finds it before it is what it should be. Paths of sockets must be short.
  const sockets = mkdtempSync('/tmp/polder-pg-');
  makeFolder(sockets);
  const { stop, ended } = startServer(programs, part, ['listen_addresses=', `unix_socket_directories=${sockets}`]);
  try {
    await runScripts(settings, sockets);
  } finally {
    stop();
    await ended;
    rmSync(sockets, { recursive: true, force: true });
  }
  renameSync(part, data);
}

async function runScripts({ user, password, database, scripts }: Settings, host: string): Promise<void> {
  if (database !== 'postgres') {
    const admin = await connected({ host, port: PORT, user, password, database: 'postgres' });
    await admin.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
    await admin.end();
  }
  const client = await connected({ host, port: PORT, user, password, database });
  const files = existsSync(scripts) ? readdirSync(scripts).filter((name) => name.endsWith('.sql')) : [];
  for (const name of files.toSorted()) {
    console.log(`running ${name}`);
    await client.query(readFileSync(join(scripts, name), 'utf8'));
  }
  await client.end();
}

/** The server takes a moment until it listens. */
async function connected(config: pg.ClientConfig): Promise<pg.Client> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client(config);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function main(): Promise<void> {
  const settings = settingsIn(process.env);
  makeFolder(settings.folder);
  const programs = await postgresPrograms(settings.folder);
  const data = join(settings.folder, 'data');
  if (!existsSync(data)) await initialise(settings, programs, data);
  const { server, stop } = startServer(programs, data, [
    `listen_addresses=${settings.address}`,
    'unix_socket_directories=',
    `port=${PORT}`,
  ]);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const [code]: (number | null)[] = await once(server, 'exit');
  process.exitCode = code ?? 1;
}

await main();
