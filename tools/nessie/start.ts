/**
 * A real Nessie on loopback, with the S3 server that its tables live on, for suites that need the truth. Both are thrown away
 * afterwards.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { findJava } from '../jdk/find.ts';
import { keep, type Server, startServer } from '../server.ts';
import { answers, BUCKET, buildNessie, READY_WITHIN, type StorageAddresses, startStorage } from './storage.ts';

/** How to reach both; plain data, so that it can be handed to another process. */
export interface NessieAddresses extends StorageAddresses {
  /** Of Nessie. Its default warehouse is named `warehouse`. */
  readonly baseURL: string;
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
  const [http = 0, management = 0] = await freePorts(2);
  const baseURL = `http://127.0.0.1:${http}`;
  const storage = await startStorage({ dir: join(dir, 's3') });
  const properties = propertiesOf({ http, management, storage: storage.addresses, data: join(dir, 'nessie') });
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
    await Promise.all([kill(), storage.stop()]);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await restart();
  } catch (error) {
    await stop();
    throw error;
  }
  const python = join(programs, 'python', 'bin', 'python');
  return { addresses: { baseURL, ...storage.addresses, python }, kill, restart, stop };
}

interface Settings {
  readonly http: number;
  readonly management: number;
  readonly storage: StorageAddresses;
  readonly data: string;
}

function propertiesOf({ http, management, storage, data }: Settings): string[] {
  const { s3Endpoint, s3Region, accessKey, secretAccessKey } = storage;
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
    [`${s3}.region`]: s3Region,
    [`${s3}.auth-type`]: 'STATIC',
    [`${s3}.access-key`]: 'urn:nessie-secret:quarkus:s3key',
    [`${s3}.request-signing-enabled`]: false,
    's3key.name': accessKey,
    's3key.secret': secretAccessKey,
  };
  return Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
}

if (import.meta.main) {
  const nessie = await startNessie({ dir: join(tmpdir(), `polder-nessie-${process.pid}`) });
  keep(nessie.addresses, () => nessie.stop());
}
