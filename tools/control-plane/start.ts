/**
 * A real Kubernetes control plane on loopback, for suites that need the truth: etcd and kube-apiserver, with the
 * controllers, the scheduler and simulated nodes when asked (without nodes pods stay Pending). It is thrown away afterwards.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createAuthority, issue, type Pair } from '@polder/kube/certificates';
import { freePorts } from '../free-ports.ts';
import { kwokFlags, simulatedNodes } from './simulated-nodes.ts';

const run = promisify(execFile);

const READY_WITHIN = 60_000;
const VALID_MS = 24 * 3600 * 1000;

export interface ControlPlaneOptions {
  /** Run kube-controller-manager and kube-scheduler as well. Without them nothing happens by itself. */
  readonly controllers?: boolean;
  /** So many simulated nodes, whose pods are ready at once and run nothing. Pods get there by the scheduler alone. */
  readonly nodes?: number;
  /** Holds data, certificates and logs; made if missing, removed by `stop`. */
  readonly dir: string;
}

export interface ControlPlane {
  /** The kubeconfig of a cluster administrator. */
  readonly kubeconfig: string;
  readonly url: string;
  /** The path of one of the programs: `kubectl`, `etcd`, … */
  bin(program: string): string;
  /** Ends the API server at once, as a crash would; what it stored stays. */
  kill(): Promise<void>;
  /** Starts the API server again (after `kill`, or instead of it) on the same port, and waits until it is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const programs = await buildControlPlane();
  const { dir, nodes = 0 } = options;
  mkdirSync(dir, { recursive: true });
  const [etcdPort, peerPort, apiPort] = await freePorts(3);
  const url = `https://127.0.0.1:${apiPort}`;
  const files = await writeCertificates(dir, url);
  const running = new Map<string, Program>();

  const start = (name: string, flags: Flags, folder = programs) => {
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    running.set(name, startProgram(join(folder, name), args, join(dir, `${name}.log`)));
  };
  const stopProgram = async (name: string) => {
    const program = running.get(name);
    running.delete(name);
    await program?.kill();
  };

  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const startApiServer = async () => {
    start('kube-apiserver', apiServerFlags(files, etcdUrl, apiPort ?? 0, options.controllers ?? false));
    await ready(url, files.authority, () => running.get('kube-apiserver')?.failure());
  };
  const controlPlane: ControlPlane = {
    kubeconfig: files.adminKubeconfig,
    url,
    bin: (program) => join(programs, program),
    kill: () => stopProgram('kube-apiserver'),
    async restart() {
      await stopProgram('kube-apiserver');
      await startApiServer();
    },
    async stop() {
      // Everything is thrown away, and the API server would politely wait for its open watches.
      await Promise.all([...running.keys()].map(stopProgram));
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  try {
    start('etcd', {
      name: 'default',
      'data-dir': join(dir, 'etcd'),
      'unsafe-no-fsync': true,
      'log-level': 'warn',
      'listen-client-urls': etcdUrl,
      'advertise-client-urls': etcdUrl,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
      'initial-cluster': `default=${peerUrl}`,
    });
    await startApiServer();
    if (options.controllers) {
      start('kube-controller-manager', controllerManagerFlags(files));
      start('kube-scheduler', controllerFlags(files.schedulerKubeconfig));
    }
    if (nodes > 0) {
      const kwok = await buildKwok();
      start('kwok', kwokFlags(files.adminKubeconfig, join(kwok, 'stages.yaml')), kwok);
      await createNodes(join(programs, 'kubectl'), files.adminKubeconfig, nodes);
    }
    return controlPlane;
  } catch (error) {
    await Promise.all([...running.keys()].map(stopProgram));
    throw error;
  }
}

/** Builds what is not in the user's cache yet; resolves with the folder of the programs. */
export function buildControlPlane(): Promise<string> {
  return build('The real control plane', 'build.sh');
}

/** The same for kwok: the folder of the program and of its `stages.yaml`. */
function buildKwok(): Promise<string> {
  return build('kwok', 'build-kwok.sh');
}

async function build(what: string, script: string): Promise<string> {
  const running = run(join(import.meta.dirname, script));
  running.child.stderr?.pipe(process.stderr);
  try {
    return (await running).stdout.trim();
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`${what} could not be built (tools/control-plane/${script}):\n${said}`, { cause: error });
  }
}

/** Resolves when the nodes are ready, so that the first pod finds them all. */
async function createNodes(kubectl: string, kubeconfig: string, count: number): Promise<void> {
  const creating = run(kubectl, ['--kubeconfig', kubeconfig, 'create', '-f', '-']);
  creating.child.stdin?.end(JSON.stringify(simulatedNodes(count)));
  await creating;
  await run(kubectl, ['--kubeconfig', kubeconfig, 'wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s']);
}

interface Files {
  readonly authority: string;
  readonly authorityKey: string;
  readonly serving: { readonly certificate: string; readonly key: string };
  readonly signingKey: string;
  readonly adminKubeconfig: string;
  readonly controllerManagerKubeconfig: string;
  readonly schedulerKubeconfig: string;
}

async function writeCertificates(dir: string, url: string): Promise<Files> {
  const write = (name: string, text: string) => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const term = { validMs: VALID_MS, now: Date.now() };
  const authority = await createAuthority({ name: 'kubernetes', ...term });
  const serving = await issue(authority, {
    name: 'kube-apiserver',
    use: 'server',
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    ipAddresses: ['127.0.0.1'],
    ...term,
  });
  // The API server reads the user from the name and the groups from the organizations.
  const kubeconfig = async (user: string, organizations: readonly string[] = []) => {
    const client = await issue(authority, { name: user, use: 'client', organizations, ...term });
    return write(`${user.replace(':', '-')}.kubeconfig`, kubeconfigOf(url, authority, client));
  };
  return {
    authority: write('ca.crt', authority.certificate),
    authorityKey: write('ca.key', authority.key),
    serving: { certificate: write('apiserver.crt', serving.certificate), key: write('apiserver.key', serving.key) },
    signingKey: write('service-accounts.key', createSigningKey()),
    adminKubeconfig: await kubeconfig('admin', ['system:masters']),
    controllerManagerKubeconfig: await kubeconfig('system:kube-controller-manager'),
    schedulerKubeconfig: await kubeconfig('system:kube-scheduler'),
  };
}

/**
 * A private key for signing service account tokens. In the older encoding: it is the one from which the API server also
 * reads the public half, so that a single file does.
 */
function createSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** JSON, which every reader of YAML takes. */
function kubeconfigOf(server: string, authority: Pair, client: Pair): string {
  const name = 'control-plane';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority.certificate) } }],
    users: [
      {
        name,
        user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

export type Flags = Readonly<Record<string, string | number | boolean>>;

function apiServerFlags(files: Files, etcdUrl: string, port: number, controllers: boolean): Flags {
  return {
    'etcd-servers': etcdUrl,
    'bind-address': '127.0.0.1',
    'secure-port': port,
    'advertise-address': '127.0.0.1',
    'endpoint-reconciler-type': 'none',
    'client-ca-file': files.authority,
    'tls-cert-file': files.serving.certificate,
    'tls-private-key-file': files.serving.key,
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': files.signingKey,
    'service-account-signing-key-file': files.signingKey,
    'service-cluster-ip-range': '10.96.0.0/16',
    'authorization-mode': 'RBAC',
    'allow-privileged': true,
    profiling: false,
    // The plugin refuses pods until a controller has made the namespace's default service account.
    ...(!controllers && { 'disable-admission-plugins': 'ServiceAccount' }),
  };
}

function controllerManagerFlags(files: Files): Flags {
  return {
    ...controllerFlags(files.controllerManagerKubeconfig),
    'use-service-account-credentials': true,
    'root-ca-file': files.authority,
    'service-account-private-key-file': files.signingKey,
    'cluster-signing-cert-file': files.authority,
    'cluster-signing-key-file': files.authorityKey,
    // A volume and a claim that were looked at in the wrong order find each other at the next round.
    'pvclaimbinder-sync-period': '1s',
  };
}

/** What kube-controller-manager and kube-scheduler share: alone (no election), serving nothing, in a hurry. */
function controllerFlags(kubeconfig: string): Flags {
  return {
    kubeconfig,
    'secure-port': 0,
    'leader-elect': false,
    'kube-api-qps': 500,
    'kube-api-burst': 1000,
    profiling: false,
  };
}

interface Program {
  /** What its log says, if it ended by itself. */
  failure(): Error | undefined;
  kill(): Promise<void>;
}

function startProgram(path: string, args: readonly string[], logFile: string): Program {
  const log = openSync(logFile, 'a');
  const child: ChildProcess = spawn(path, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  // A run that ends without `stop` (Ctrl-C, a crash) must not leave servers behind.
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  let spawnError: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      spawnError = error;
      resolve();
    });
  });
  return {
    failure() {
      if (spawnError) return spawnError;
      if (child.exitCode === null && child.signalCode === null) return undefined;
      const tail = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
      return new Error(`${path} ended with ${child.exitCode ?? child.signalCode}:\n${tail}`);
    },
    async kill() {
      process.off('exit', killWithParent);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Waits for `/readyz`, which is open to everybody, so that no client certificate is needed. */
async function ready(url: string, authorityFile: string, failure: () => Error | undefined): Promise<void> {
  const ca = readFileSync(authorityFile);
  const deadline = performance.now() + READY_WITHIN;
  for (;;) {
    const status = await new Promise<number | string>((resolve) => {
      const call = request(`${url}/readyz`, { ca, agent: false, timeout: 2000 }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      call.on('timeout', () => call.destroy(new Error('no answer')));
      call.on('error', (error) => resolve(error.message));
      call.end();
    });
    if (status === 200) return;
    const ended = failure();
    if (ended) throw ended;
    if (performance.now() > deadline) {
      throw new Error(`the API server was not ready within ${READY_WITHIN / 1000} s; /readyz: ${status}`);
    }
    await sleep(50);
  }
}

if (import.meta.main) {
  const controlPlane = await startControlPlane({
    dir: join(tmpdir(), `polder-control-plane-${process.pid}`),
    ...(process.argv.includes('--no-controllers') ? {} : { controllers: true, nodes: 3 }),
  });
  console.log(controlPlane.kubeconfig);
  console.error(`kubectl is ${controlPlane.bin('kubectl')}; Ctrl-C stops it all`);
  const stop = async () => {
    await controlPlane.stop();
    process.exit(0);
  };
  process.once('SIGINT', () => void stop());
  process.once('SIGTERM', () => void stop());
}
