/** Clusters beside which operators are put. Nothing is known of them but what their API tells. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '@polder/embedded';
import { inject } from 'vitest';
import { operatorAccount } from './account.ts';

/** A cluster whose pods are simulated. */
export interface ClusterUnderTest {
  /** The path of a kubeconfig of its administrator. */
  readonly kubeconfig: string;
  /** How long anything may take there, in milliseconds. */
  readonly patience: number;
  /** The text of a kubeconfig of the operators of a namespace. */
  operatorIn(namespace: string): Promise<string>;
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
    // It has one user.
    operatorIn: async () => readFileSync(kubeconfig, 'utf8'),
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
  operatorIn: (namespace) => operatorAccount(inject('kubectl'), inject('kubeconfig'), namespace),
  stop: async () => {},
});
