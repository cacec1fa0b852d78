/**
 * A real Trino on loopback, for suites that need the truth: one node that is coordinator and worker, with a catalog in memory
 * and one of Iceberg tables in files. It is thrown away afterwards.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { findJava } from '../jdk/find.ts';
import { bring, keep, type Server, startServer } from '../server.ts';

const JAVA = 25;
const READY_WITHIN = 180_000;

/** How to reach the server; plain data, so that it can be handed to another process. */
export interface TrinoAddresses {
  /** `http://host:port` of the coordinator. */
  readonly url: string;
  /** A catalog that keeps tables for as long as the server runs; it inserts, and knows no MERGE. */
  readonly memory: string;
  /** A catalog of Iceberg tables, which outlive the server; it merges. */
  readonly iceberg: string;
}

export interface Trino {
  readonly addresses: TrinoAddresses;
  /** Ends the server at once, as a crash would; the Iceberg tables stay. */
  kill(): Promise<void>;
  /** Starts the server again on the same port, after `kill` or instead of it, and waits until it serves. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `dir` holds configuration, tables and logs; it is made if missing, and removed by `stop`. */
export async function startTrino({ dir }: { readonly dir: string }): Promise<Trino> {
  const java = await findJava(JAVA);
  const home = await buildTrino();
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const lake = join(dir, 'lake');
  mkdirSync(lake, { recursive: true });
  mkdirSync(join(dir, 'etc', 'catalog'), { recursive: true });
  const write = (file: string, properties: Readonly<Record<string, string>>) => {
    const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(dir, 'etc', file), lines.join(''));
  };
  write('config.properties', {
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': String(port),
    'discovery.uri': url,
    'catalog.management': 'static',
    'catalog.config-dir': join(dir, 'etc', 'catalog'),
  });
  write('catalog/memory.properties', { 'connector.name': 'memory' });
  // The metastore that Trino's own tests use: all it needs is a folder.
  write('catalog/iceberg.properties', {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'TESTING_FILE_METASTORE',
    'hive.metastore.catalog.dir': 'local:///',
    'fs.native-local.enabled': 'true',
    'local.location': lake,
  });
  const node = {
    config: join(dir, 'etc', 'config.properties'),
    'node.environment': 'polder',
    'node.id': 'one',
    'node.data-dir': join(dir, 'data'),
    'node.bind-ip': '127.0.0.1',
    'node.internal-address': '127.0.0.1',
    'plugin.dir': join(home, 'plugin'),
    'jdk.attach.allowAttachSelf': 'true',
  };
  const args = [
    '-Xmx1G',
    '-XX:+UseG1GC',
    '-XX:+EnableDynamicAgentLoading',
    '--add-modules=jdk.incubator.vector',
    ...Object.entries(node).map(([name, value]) => `-D${name}=${value}`),
    '-cp',
    `${home}/lib/*`,
    'io.trino.server.TrinoServer',
  ];

  let server: Server | undefined;
  const kill = async () => {
    await server?.kill();
    server = undefined;
  };
  const restart = async () => {
    await kill();
    server = await startServer({
      name: 'Trino',
      program: java,
      args,
      logFile: join(dir, 'server.log'),
      readyWithinMs: READY_WITHIN,
      isReady: () => isServing(url),
    });
  };
  await restart();
  return {
    addresses: { url, memory: 'memory', iceberg: 'iceberg' },
    kill,
    restart,
    async stop() {
      await kill();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Brings what is not in the user's cache yet; resolves with the folder of the server. */
export const buildTrino = () => bring('Trino', join(import.meta.dirname, 'build.sh'));

async function isServing(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/v1/info`);
    const info: { starting?: boolean } = JSON.parse(await answer.text());
    return info.starting === false;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const trino = await startTrino({ dir: join(tmpdir(), `polder-trino-${process.pid}`) });
  keep(trino.addresses, () => trino.stop());
}
