import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createApiServer, fileStorage } from '@polder/embedded';
import { stopSignal } from '@polder/kube';
import { version } from './version.ts';

export interface UpOptions {
  readonly dataDir: string;
  readonly port?: number | undefined;
}

/** Runs the embedded API server until a signal comes. */
export async function up(options: UpOptions, process: NodeJS.Process): Promise<void> {
  const stop = stopSignal(process);
  const startedAt = performance.now();
  const folder = resolve(options.dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const server = createApiServer({ storage: fileStorage(join(folder, 'cluster.db')) });
  try {
    const listener = await server.listen(options.port === undefined ? {} : { port: options.port });
    const kubeconfig = join(folder, 'kubeconfig');
    await writeSecret(kubeconfig, listener.kubeconfig);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(greeting({ url: listener.url, kubeconfig, folder, seconds }));
    await new Promise<void>((done) => stop.signal.addEventListener('abort', () => done(), { once: true }));
    process.stdout.write('Stopping.\n');
    await listener.close();
    // It would point to a port where somebody else may listen tomorrow, and its token is worthless now.
    await rm(kubeconfig, { force: true });
  } finally {
    server.close();
    stop.dispose();
  }
}

/** Readable by its owner alone from the first byte on, also when it replaces a file that was not. */
async function writeSecret(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}

function greeting(at: { url: string; kubeconfig: string; folder: string; seconds: string }): string {
  return `Polder ${version}: an API server is ready at ${at.url} (${at.seconds} s).

Talk to it from another terminal:
  export KUBECONFIG=${at.kubeconfig}
  kubectl get namespaces
  kubectl create configmap hello --from-literal=who=world
  kubectl get configmaps --watch

A controller to run on it: examples/operator/README.md
Its state is in ${at.folder}. Ctrl-C stops it; the next start resumes.
`;
}
