import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '@polder/embedded';
import { vi } from 'vitest';
import { runBlackbox } from './suite.ts';

// Operators are processes that start, on whatever machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

async function start() {
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

runBlackbox('embedded', start);
