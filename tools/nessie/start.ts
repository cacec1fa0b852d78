/**
 * A real Nessie on loopback, with the S3 server that its tables live on, for suites that need the truth. Both are thrown away
 * afterwards.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { findJava } from '../jdk/find.ts';
import { bring, keep, type Server, startServer } from '../server.ts';

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
    logFile: join(dir, 's3.log'),
    readyWithinMs: READY_WITHIN,
    isReady: () => answers(s3Endpoint),
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
    server = await startServer({
      name: 'Nessie',
      program: java,
      args,
      logFile: join(dir, 'nessie.log'),
      readyWithinMs: READY_WITHIN,
      isReady: () => answers(`${baseURL}/api/v2/config`),
    });
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
export const buildNessie = () => bring('Nessie', join(import.meta.dirname, 'build.sh'));

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

/** It serves once it answers, whatever it answers. */
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
  keep(nessie.addresses, () => nessie.stop());
}
