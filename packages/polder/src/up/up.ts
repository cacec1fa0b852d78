import { access, constants, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { type EmbeddedCluster, fileStorage, startCluster } from '@polder/embedded';
import { Client, messageOf, stopSignal, systemClock } from '@polder/kube';
import { applyManifests, type Manifest, readManifests } from '../manifests/index.ts';
import type { BuiltInProduct } from '../products.ts';
import { version } from '../version.ts';
import { becomeReady } from './become-ready.ts';
import { loopbackOf } from './loopback.ts';
import { keepNames } from './names-file.ts';
import { type Operators, startOperators } from './operators.ts';
import { type Progress, progressOn } from './progress.ts';
import { KUBECONFIG_FILE, NAMES_FILE, runnersIn } from './runners.ts';
import { triesIn } from './tries.ts';

export interface UpOptions {
  readonly dataDir: string;
  readonly port?: number | undefined;
  readonly nodes: number;
  /** Files or folders of manifests to apply. */
  readonly manifests: readonly string[];
  /** Those whose operators run beside the cluster. */
  readonly products: readonly BuiltInProduct[];
}

/** Whoever waits for longer is told for what, and how to go on meanwhile. */
const PATIENCE_MS = 10_000;

/** Runs the embedded cluster until a signal comes. */
export async function up(options: UpOptions, process: NodeJS.Process): Promise<void> {
  const stop = stopSignal(process);
  try {
    // Read first: who mistyped should not have to wait, nor find a cluster half started.
    const manifests = (await Promise.all(options.manifests.map(readManifests))).flat();
    await runCluster(options, manifests, { signal: stop.signal, progress: progressOn(process), env: process.env });
  } finally {
    stop.dispose();
  }
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly env: NodeJS.ProcessEnv;
}

async function runCluster(
  { dataDir, port, nodes, products }: UpOptions,
  manifests: readonly Manifest[],
  { signal, progress, env }: Surroundings,
): Promise<void> {
  const startedAt = performance.now();
  const folder = resolve(dataDir);
  await makeFolder(folder);
  // Locks the folder. Only then may the runners end what an earlier start has left in it.
  const storage = fileStorage(join(folder, 'cluster.db'));
  // The runners come before the cluster, and what it knows of names: until then, there are none.
  let network: EmbeddedCluster['network'] | undefined;
  const addressesOf = (host: string) => network?.addressesOf(host) ?? [];
  const runners = runnersIn({ folder, clock: systemClock, log: progress.log, env, addressesOf });
  const kubeconfig = join(folder, KUBECONFIG_FILE);
  try {
    const { images, provisioner } = runners;
    const listen = port === undefined ? {} : { port };
    const loopback = loopbackOf(folder);
    let operators: Operators | undefined;
    const cluster = await startCluster({ images, provisioner, storage, log: progress.log, nodes, listen, loopback });
    network = cluster.network;
    const names = keepNames(cluster.network, join(folder, NAMES_FILE), systemClock);
    const work = async () => {
      await writeSecret(kubeconfig, cluster.listener?.kubeconfig ?? '');
      await cluster.ready;
      if (products.length > 0) {
        operators = await startOperators(cluster, products, { clock: systemClock, log: progress.log, env, signal });
      }
      const seconds = (performance.now() - startedAt) / 1000;
      progress.clusterIsUp({ version, url: cluster.listener?.url ?? '', nodes, kubeconfig, folder, seconds });
      const bringingUp = bringUp(cluster, manifests, { kubeconfig, folder }, { signal, progress, env });
      await (operators ? Promise.race([bringingUp, operators.running]) : bringingUp);
    };
    try {
      await Promise.race([unlessStopped(signal, work), cluster.running]);
      progress.stopping();
    } finally {
      try {
        await operators?.stop();
      } finally {
        await cluster.stop();
        names.stop();
      }
    }
  } finally {
    await runners.close();
    // It would point to a port where somebody else may listen tomorrow, and its token is worthless now.
    await rm(kubeconfig, { force: true });
  }
}

/** Applies the manifests, and tells how they fare and how to go on, until a signal comes. */
async function bringUp(
  cluster: EmbeddedCluster,
  manifests: readonly Manifest[],
  places: { readonly kubeconfig: string; readonly folder: string },
  { signal, progress, env }: Surroundings,
): Promise<void> {
  const client = new Client({ transport: cluster.server.transport(), userAgent: `polder/${version}` });
  const tools = { client, clock: systemClock, signal };
  const applied = await applyManifests(manifests, { ...tools, applied: (one) => progress.applied(one) });
  const watcher = { ...tools, ready: progress.ready.bind(progress) };
  const waiting = await becomeReady(applied, { patienceMs: PATIENCE_MS }, watcher);
  for (const { kind, object, because } of waiting) progress.notReady(kind, object, because);
  progress.next({ ...places, tries: await triesIn(client, signal), hasKubectl: await isOnPath('kubectl', env) });
  await becomeReady(waiting, { patienceMs: Number.POSITIVE_INFINITY }, watcher);
  progress.everythingIsReady();
  await aborted(signal);
}

/** Ctrl-C while things come up is no error. */
async function unlessStopped(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`the data folder ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

/** Readable by its owner alone from the first byte on, also when it replaces a file that was not. */
async function writeSecret(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}

async function isOnPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): Promise<boolean> {
  const places = PATH.split(delimiter).map((place) => access(join(place, program), constants.X_OK));
  return Promise.any(places).then(
    () => true,
    () => false,
  );
}
