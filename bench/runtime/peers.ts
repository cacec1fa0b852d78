import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';
import type { Peer } from './peer.ts';

const peersFolder = join(import.meta.dirname, 'peers');

/** What was found to help, for every peer that runs on Node; the reasons are in docs/benchmarks.md. */
const NODE_FLAGS = ['--max-semi-space-size=2'];

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** Ours first: the table compares the others with it. `go` is the path of the peer built from Go modules. */
export function allPeers(go: string): readonly Peer[] {
  const node = (file: string, args: readonly string[]) => [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ...NODE_FLAGS,
    join(peersFolder, file),
    ...args,
  ];
  return [
    {
      name: 'ours',
      cache: (kubeconfig) => node('ours/cache.ts', [kubeconfig]),
      gets: (kubeconfig, count) => node('ours/gets.ts', [kubeconfig, String(count)]),
      queue: (kind, keys) => node('ours/queue.ts', [kind, String(keys)]),
    },
    {
      name: 'client-node',
      cache: (kubeconfig) => node('client-node/cache.ts', [kubeconfig]),
      gets: (kubeconfig, count) => node('client-node/gets.ts', [kubeconfig, String(count)]),
    },
    {
      name: 'controller-runtime, JSON',
      cache: (kubeconfig) => [go, 'cache', kubeconfig, JSON_TYPE],
      gets: (kubeconfig, count) => [go, 'gets', kubeconfig, String(count)],
      queue: (kind, keys) => [go, 'queue', kind, String(keys)],
    },
    {
      name: 'controller-runtime, protobuf',
      cache: (kubeconfig) => [go, 'cache', kubeconfig, PROTOBUF_TYPE],
    },
    {
      name: 'controller-runtime, protobuf, stripped',
      cache: (kubeconfig) => [go, 'cache', kubeconfig, PROTOBUF_TYPE, 'stripped'],
    },
  ];
}

/** Builds the Go peer into the user's cache, once for each version of its sources; resolves with its path. */
export async function buildGoPeer(): Promise<string> {
  const source = join(peersFolder, 'go');
  const hash = createHash('sha256');
  for (const file of globSync('*', { cwd: source }).toSorted())
    hash.update(file).update(readFileSync(join(source, file)));
  const cache = cacheFolder();
  const program = join(cache, `go-peer-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  console.error('Building the Go peer from Go modules (once; some minutes) ...');
  const part = `${program}.${process.pid}`;
  await promisify(execFile)('go', ['build', '-trimpath', '-buildvcs=false', '-o', part, '.'], {
    cwd: source,
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  renameSync(part, program);
  return program;
}

/** Exact versions, as the lock files have them. */
export function versionsOfPeers(): string {
  const goMod = readFileSync(join(peersFolder, 'go', 'go.mod'), 'utf8');
  const module = (name: string) => new RegExp(`\\t${name.replaceAll('.', '\\.')} (\\S+)`).exec(goMod)?.[1] ?? '?';
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
  );
  return [
    `@kubernetes/client-node ${manifest.dependencies['@kubernetes/client-node']}`,
    `client-go ${module('k8s.io/client-go')}`,
    `controller-runtime ${module('sigs.k8s.io/controller-runtime')}`,
  ].join(', ');
}
