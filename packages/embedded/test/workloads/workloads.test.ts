import { vi } from 'vitest';
import { startCluster } from '../../src/index.ts';
import { runWorkloads } from './suite.ts';
import { topics } from './topics.ts';

// Cases wait for real backoffs of ten seconds, many at once, on whatever machine.
vi.setConfig({ testTimeout: 90_000 });

async function start() {
  const cluster = await startCluster({ nodes: 3, listen: {} });
  await cluster.ready;
  return { transport: cluster.server.transport(), stop: () => cluster.stop(), patience: 45_000 };
}

runWorkloads('embedded', start, topics);
