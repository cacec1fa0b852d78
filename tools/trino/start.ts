/**
 * A real Trino on loopback, for suites that need the truth: one node that is coordinator and worker, with a catalog in memory
 * and one of Iceberg tables in files. It is thrown away afterwards.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issue } from '@polder/kube/certificates';
import { freePorts } from '../free-ports.ts';
import { findJava } from '../jdk/find.ts';
import { bring, keep, type Server, startServer } from '../server.ts';

const JAVA = 25;
const READY_WITHIN = 180_000;
const VALID_MS = 24 * 3600 * 1000;

/** How to reach the server; plain data, so that it can be handed to another process. */
export interface TrinoAddresses {
  /** `http://host:port` of the coordinator, where everybody is who he says he is. */
  readonly url: string;
  /** `https://host:port` of the same, where a token has to say it. */
  readonly https: string;
  /** The certificate (PEM) of the authority that signed Trino's. */
  readonly authority: string;
  /** The certificate of an authority that signed nothing here. */
  readonly stranger: string;
  /** What tokens (JWT, HS256) are signed with, in base64. */
  readonly tokenKey: string;
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
  const [port = 0, securePort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const term = { validMs: VALID_MS, now: Date.now() };
  const authority = await createAuthority({ name: 'trino', ...term });
  const stranger = await createAuthority({ name: 'stranger', ...term });
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const serving = await issue(authority, { name: 'coordinator', use: 'server', ...names, ...term });
  const tokenKey = randomBytes(32).toString('base64');
  const lake = join(dir, 'lake');
  mkdirSync(lake, { recursive: true });
  mkdirSync(join(dir, 'etc', 'catalog'), { recursive: true });
  const write = (file: string, properties: Readonly<Record<string, string>>) => {
    const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(dir, 'etc', file), lines.join(''));
  };
  const secret = (file: string, text: string) => {
    const path = join(dir, 'etc', file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  write('config.properties', {
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': String(port),
    'http-server.https.enabled': 'true',
    'http-server.https.port': String(securePort),
    'http-server.https.keystore.path': secret('server.pem', `${serving.key}\n${serving.certificate}`),
    'http-server.authentication.type': 'JWT',
    'http-server.authentication.allow-insecure-over-http': 'true',
    'http-server.authentication.jwt.key-file': secret('token.key', tokenKey),
    'internal-communication.shared-secret': randomBytes(32).toString('base64'),
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
    addresses: {
      url,
      https: `https://127.0.0.1:${securePort}`,
      authority: authority.certificate,
      stranger: stranger.certificate,
      tokenKey,
      memory: 'memory',
      iceberg: 'iceberg',
    },
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
