import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfig, socketTransport } from '@polder/kube';
import { inject } from 'vitest';
import { startCluster } from '../../src/index.ts';
import { runTopics, type Server, type ServerUnderTest } from '../contract/suite.ts';
import { Wire } from '../contract/wire.ts';
import { Kubectl } from '../kubectl/kubectl.ts';
import { draining } from './draining.ts';
import { rollouts } from './rollouts.ts';
import { Workloads } from './workloads.ts';

interface Cluster extends ServerUnderTest {
  /** The path of the file. */
  readonly kubeconfig: string;
}

function runKubectl(server: Server, start: () => Promise<Cluster>): void {
  runTopics(server, `an administrator of the ${server} cluster`, [draining, rollouts], async () => {
    const cluster = await start();
    const kubectl = await Kubectl.open(inject('kubectl'), cluster.kubeconfig);
    return {
      world: { world: new Workloads(new Wire(cluster.transport), 45_000), kubectl },
      async stop() {
        await kubectl[Symbol.asyncDispose]();
        await cluster.stop();
      },
    };
  });
}

runKubectl('real', async () => {
  const transport = socketTransport(await kubeconfig([inject('kubeconfig')]));
  return { transport, kubeconfig: inject('kubeconfig'), stop: () => transport.close() };
});

runKubectl('embedded', async () => {
  const cluster = await startCluster({ nodes: 3, listen: {} });
  await cluster.ready;
  const dir = mkdtempSync(join(tmpdir(), 'polder-embedded-'));
  const path = join(dir, 'kubeconfig');
  writeFileSync(path, cluster.listener?.kubeconfig ?? '', { mode: 0o600 });
  return {
    transport: cluster.server.transport(),
    kubeconfig: path,
    async stop() {
      await cluster.stop();
      rmSync(dir, { recursive: true });
    },
  };
});
