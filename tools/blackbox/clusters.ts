/** Clusters beside which operators are put. Nothing is known of them but what their API tells. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '@polder/embedded';
import { inject } from 'vitest';

/** A cluster whose pods are simulated. */
export interface ClusterUnderTest {
  /** The path of a kubeconfig of its administrator. */
  readonly kubeconfig: string;
  /** How long anything may take there, in milliseconds. */
  readonly patience: number;
  stop(): Promise<void>;
}

export async function embeddedCluster(): Promise<ClusterUnderTest> {
  const cluster = await startCluster({ nodes: 3, listen: {} });
  await cluster.ready;
  const folder = mkdtempSync(join(tmpdir(), 'polder-blackbox-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.listener?.kubeconfig ?? '', { mode: 0o600 });
  return {
    kubeconfig,
    patience: 45_000,
    async stop() {
      await cluster.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** That of the project `real-cluster`. */
export const realCluster = async (): Promise<ClusterUnderTest> => ({
  kubeconfig: inject('kubeconfig'),
  patience: 90_000,
  stop: async () => {},
});
