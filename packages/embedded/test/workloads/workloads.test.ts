import { startCluster } from '../../src/index.ts';
import { runWorkloads } from './suite.ts';
import { topics } from './topics.ts';

async function start() {
  const cluster = await startCluster({ nodes: 3, listen: {} });
  await cluster.ready;
  return { transport: cluster.server.transport(), stop: () => cluster.stop(), patience: 15_000 };
}

runWorkloads('embedded', start, topics);
