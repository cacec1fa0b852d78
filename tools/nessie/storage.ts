/** A real S3 server on loopback, over a folder. Nessie's tables live on it; by itself it is enough for suites about buckets. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { bring, startServer } from '../server.ts';

export const READY_WITHIN = 120_000;
export const BUCKET = 'lake';

const REGION = 'us-east-1';

/** How to reach it; plain data, so that it can be handed to another process. */
export interface StorageAddresses {
  readonly s3Endpoint: string;
  readonly s3Region: string;
  readonly accessKey: string;
  readonly secretAccessKey: string;
}

export interface RunningStorage {
  readonly addresses: StorageAddresses;
  stop(): Promise<void>;
}

/** `dir` holds the buckets, one folder each; it is made if missing, with the bucket `lake` in it. */
export async function startStorage({ dir }: { readonly dir: string }): Promise<RunningStorage> {
  const programs = await buildNessie();
  mkdirSync(join(dir, BUCKET), { recursive: true });
  const [port = 0] = await freePorts(1);
  const key = { accessKey: 'polder', secretAccessKey: `secret-${randomBytes(6).toString('hex')}` };
  const s3Endpoint = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name: 'The S3 server',
    program: join(programs, 'versitygw'),
    args: ['--port', `127.0.0.1:${port}`, '--region', REGION, 'posix', dir],
    env: { ROOT_ACCESS_KEY: key.accessKey, ROOT_SECRET_KEY: key.secretAccessKey },
    logFile: `${dir}.log`,
    readyWithinMs: READY_WITHIN,
    isReady: () => answers(s3Endpoint),
  });
  return { addresses: { s3Endpoint, s3Region: REGION, ...key }, stop: () => server.kill() };
}

/** Brings what is not in the user's cache yet; resolves with the folder of it. */
export const buildNessie = () => bring('Nessie', join(import.meta.dirname, 'build.sh'));

/** It serves once it answers, whatever it answers. */
export async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
