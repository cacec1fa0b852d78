/**
 * A real Nessie on loopback, with the S3 server that its tables live on, for suites that need the truth. Both are thrown away
 * afterwards.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '../free-ports.ts';
import { findJava } from '../jdk/find.ts';

const run = promisify(execFile);

const READY_WITHIN = 120_000;
const REGION = 'us-east-1';
const BUCKET = 'lake';

/** How to reach both; plain data, so that it can be handed to another process. */
export interface NessieAddresses {
  /** Of Nessie. Its default warehouse is named `warehouse`. */
  readonly baseURL: string;
  readonly s3Endpoint: string;
  readonly s3Region: string;
  readonly accessKey: string;
  readonly secretAccessKey: string;
  /** A Python that has pyiceberg and pyarrow: an independent judge of tables. */
  readonly python: string;
}

export interface Nessie {
  readonly addresses: NessieAddresses;
  /** Ends Nessie at once, as a crash would; what it stored stays. */
  kill(): Promise<void>;
  /** Starts Nessie again on the same port, after `kill` or instead of it, and waits until it serves. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `dir` holds data and logs; it is made if missing, and removed by `stop`. */
export async function startNessie({ dir }: { readonly dir: string }): Promise<Nessie> {
  const [programs, java] = await Promise.all([buildNessie(), findJava(25)]);
  mkdirSync(join(dir, 's3', BUCKET), { recursive: true });
  const [http = 0, management = 0, s3 = 0] = await freePorts(3);
  const key = { accessKey: 'polder', secretAccessKey: `secret-${randomBytes(6).toString('hex')}` };
  const s3Endpoint = `http://127.0.0.1:${s3}`;
  const baseURL = `http://127.0.0.1:${http}`;
  const storage = await startServer({
    name: 'The S3 server',
    program: join(programs, 'versitygw'),
    args: ['--port', `127.0.0.1:${s3}`, '--region', REGION, 'posix', join(dir, 's3')],
    env: { ROOT_ACCESS_KEY: key.accessKey, ROOT_SECRET_KEY: key.secretAccessKey },
    log: join(dir, 's3.log'),
    readyURL: s3Endpoint,
  });
  const properties = propertiesOf({ http, management, s3Endpoint, data: join(dir, 'nessie'), ...key });
  const args = ['-Xmx512m', ...properties, '-jar', join(programs, 'nessie-quarkus-runner.jar')];

  let server: Server | undefined;
  const kill = async () => {
    await server?.kill();
    server = undefined;
  };
  const restart = async () => {
    await kill();
    const log = join(dir, 'nessie.log');
    const readyURL = `${baseURL}/api/v2/config`;
    server = await startServer({ name: 'Nessie', program: java, args, env: {}, log, readyURL });
  };
  const stop = async () => {
    await Promise.all([kill(), storage.kill()]);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await restart();
  } catch (error) {
    await stop();
    throw error;
  }
  const python = join(programs, 'python', 'bin', 'python');
  return { addresses: { baseURL, s3Endpoint, s3Region: REGION, ...key, python }, kill, restart, stop };
}

/** Brings what is not in the user's cache yet; resolves with the folder of it. */
export async function buildNessie(): Promise<string> {
  const running = run(join(import.meta.dirname, 'build.sh'));
  running.child.stderr?.pipe(process.stderr);
  try {
    return (await running).stdout.trim().split('\n').at(-1) ?? '';
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`The real Nessie could not be brought (tools/nessie/build.sh):\n${said}`, { cause: error });
  }
}

interface Settings {
  readonly http: number;
  readonly management: number;
  readonly s3Endpoint: string;
  readonly accessKey: string;
  readonly secretAccessKey: string;
  readonly data: string;
}

function propertiesOf({ http, management, s3Endpoint, accessKey, secretAccessKey, data }: Settings): string[] {
  const s3 = 'nessie.catalog.service.s3.default-options';
  const properties: Record<string, string | number | boolean> = {
    'quarkus.http.host': '127.0.0.1',
    'quarkus.http.port': http,
    'quarkus.management.host': '127.0.0.1',
    'quarkus.management.port': management,
    'quarkus.oidc.tenant-enabled': false,
    'quarkus.otel.sdk.disabled': true,
    'nessie.version.store.type': 'ROCKSDB',
    'nessie.version.store.persist.rocks.database-path': data,
    'nessie.catalog.default-warehouse': 'warehouse',
    'nessie.catalog.warehouses.warehouse.location': `s3://${BUCKET}/warehouse/`,
    [`${s3}.endpoint`]: s3Endpoint,
    [`${s3}.path-style-access`]: true,
    [`${s3}.region`]: REGION,
    [`${s3}.auth-type`]: 'STATIC',
    [`${s3}.access-key`]: 'urn:nessie-secret:quarkus:s3key',
    [`${s3}.request-signing-enabled`]: false,
    's3key.name': accessKey,
    's3key.secret': secretAccessKey,
  };
  return Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
}

interface Server {
  kill(): Promise<void>;
}

interface ServerOptions {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
  /** It serves once this answers, whatever it answers. */
  readonly readyURL: string;
}

async function startServer({ name, program, args, env, log, readyURL }: ServerOptions): Promise<Server> {
  const file = openSync(log, 'w');
  const stdio = ['ignore', file, file] as const;
  const child: ChildProcess = spawn(program, args, { stdio: [...stdio], env: { ...process.env, ...env } });
  closeSync(file);
  // A run that ends without `stop` (Ctrl-C, a crash) must not leave servers behind.
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const kill = async () => {
    process.off('exit', killWithParent);
    child.kill('SIGKILL');
    await ended;
  };
  const deadline = performance.now() + READY_WITHIN;
  while (!(await answers(readyURL))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() > deadline) {
      await kill();
      const what = hasEnded ? `ended with ${child.exitCode ?? child.signalCode}` : 'did not start in time';
      const said = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
      throw new Error(`${name} ${what}:\n${said}`);
    }
    await sleep(50);
  }
  return { kill };
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const nessie = await startNessie({ dir: join(tmpdir(), `polder-nessie-${process.pid}`) });
  console.log(JSON.stringify(nessie.addresses, undefined, 2));
  console.error('Ctrl-C stops it');
  const stop = async () => {
    await nessie.stop();
    process.exit(0);
  };
  process.once('SIGINT', () => void stop());
  process.once('SIGTERM', () => void stop());
}
