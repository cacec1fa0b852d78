import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock/index.ts';
import { type Access, type ClusterConfig, ConfigError } from './config.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The kubelet replaces the token long before it expires; more than a read a minute would be waste. */
const REREAD_AFTER_MS = 60_000;

/**
 * The config of a pod: address from the environment, token and authority from the mounted service account.
 * Both files rotate while the pod runs, so they are read again once a minute, and at once after a 401.
 */
export async function inClusterConfig(
  clock: Clock,
  env: Readonly<Record<string, string | undefined>> = process.env,
  directory = SERVICE_ACCOUNT,
): Promise<ClusterConfig> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) {
    throw new ConfigError(
      'not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set. Outside a cluster, give --kubeconfig or set KUBECONFIG.',
    );
  }
  let remembered: { readonly access: Access; readonly readAt: number } | undefined;
  const access = async (): Promise<Access> => {
    if (remembered && clock.monotonic() - remembered.readAt < REREAD_AFTER_MS) return remembered.access;
    const [token, ca] = await Promise.all([read(directory, 'token'), read(directory, 'ca.crt')]);
    remembered = { access: { authorization: `Bearer ${token.trim()}`, ca }, readAt: clock.monotonic() };
    return remembered.access;
  };
  await access(); // a pod without a mounted service account should say so now, not at the first request
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: (await read(directory, 'namespace')).trim(),
    access,
    forget() {
      remembered = undefined;
    },
  };
}

async function read(directory: string, file: string): Promise<string> {
  const path = join(directory, file);
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(
      `cannot read ${path}: the pod's service account is not mounted (is automountServiceAccountToken false?)`,
      { cause },
    );
  }
}
