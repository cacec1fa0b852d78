import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileStorage, startCluster } from '@polder/embedded';
import { Client, stopSignal, systemClock } from '@polder/kube';
import { type AppliedObject, applyManifests, type Manifest, readManifests } from '../manifests/index.ts';
import { version } from '../version.ts';
import { becomeReady } from './become-ready.ts';
import { runnersIn } from './images.ts';
import { type Progress, progressOn } from './progress.ts';

export interface UpOptions {
  readonly dataDir: string;
  readonly port?: number | undefined;
  readonly nodes: number;
  /** Files or folders of manifests to apply. */
  readonly manifests: readonly string[];
}

/** Runs the embedded cluster until a signal comes. */
export async function up(options: UpOptions, process: NodeJS.Process): Promise<void> {
  const stop = stopSignal(process);
  const progress = progressOn(process);
  try {
    // Read first: who mistyped should not have to wait, nor find a cluster half started.
    const manifests = (await Promise.all(options.manifests.map(readManifests))).flat();
    await runCluster(options, manifests, stop.signal, progress, process.env);
  } finally {
    stop.dispose();
  }
}

async function runCluster(
  { dataDir, port, nodes }: UpOptions,
  manifests: readonly Manifest[],
  signal: AbortSignal,
  progress: Progress,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const startedAt = performance.now();
  const folder = resolve(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const storage = fileStorage(join(folder, 'cluster.db'));
  const runners = runnersIn(folder, systemClock, progress.log, env);
  const kubeconfig = join(folder, 'kubeconfig');
  const listen = port === undefined ? {} : { port };
  const cluster = await startCluster({ images: runners.images, storage, log: progress.log, nodes, listen });
  try {
    await writeSecret(kubeconfig, cluster.listener?.kubeconfig ?? '');
    await cluster.ready;
    const seconds = (performance.now() - startedAt) / 1000;
    progress.clusterIsUp({ version, url: cluster.listener?.url ?? '', nodes, kubeconfig, folder, seconds });
    const client = new Client({ transport: cluster.server.transport(), userAgent: `polder/${version}` });
    await unlessStopped(signal, () => applyAll(manifests, client, signal, progress));
    progress.next({ kubeconfig, folder, hasExample: manifests.length > 0 });
    await Promise.race([aborted(signal), cluster.running]);
    progress.stopping();
  } finally {
    await cluster.stop();
    await runners.close();
    // It would point to a port where somebody else may listen tomorrow, and its token is worthless now.
    await rm(kubeconfig, { force: true });
  }
}

async function applyAll(
  manifests: readonly Manifest[],
  client: Client,
  signal: AbortSignal,
  progress: Progress,
): Promise<void> {
  if (manifests.length === 0) return;
  const tools = { client, clock: systemClock, signal };
  const applied: readonly AppliedObject[] = await applyManifests(manifests, {
    ...tools,
    applied: (one) => progress.applied(one),
  });
  await becomeReady(applied, tools, progress);
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

/** Readable by its owner alone from the first byte on, also when it replaces a file that was not. */
async function writeSecret(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}
