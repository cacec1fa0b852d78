/**
 * `node bench/cluster/run.ts`: what a cluster costs that runs nothing. Deployments of two simulated pods each, made as fast as a
 * client can, until all are available: on the embedded cluster, and on a real control plane with simulated nodes (kwok). Each
 * in processes of its own. Prints a Markdown table; see docs/benchmarks.md.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { simulated, startCluster } from '@polder/embedded';
import { Client, Deployment, kubeconfig, type NewObject, socketTransport, systemClock } from '@polder/kube';
import { sleep } from '@polder/kube/clock';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { type ProcessUse, useOfChildren, useOfThis } from './process-use.ts';

const SIZES = [100, 1_000];
const REPLICAS = 2;
const NODES = 3;

type Peer = 'embedded' | 'real';

/** What one run prints for the one that started it. */
interface Measured extends ProcessUse {
  readonly seconds: number;
}

const deployment = (name: string): NewObject<Deployment> => ({
  metadata: { namespace: 'default', name },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
});

async function measure(client: Client, count: number, use: () => ProcessUse): Promise<Measured> {
  const [startedAt, before] = [performance.now(), use()];
  for (let i = 0; i < count; i++) await client.create(Deployment, deployment(`web-${i}`));
  for (;;) {
    const { items } = await client.list(Deployment, { namespace: 'default' });
    if (items.every(({ status }) => status?.availableReplicas === REPLICAS)) break;
    await sleep(systemClock, 500);
  }
  const { cpuSeconds, rssMb } = use();
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: cpuSeconds - before.cpuSeconds, rssMb };
}

async function onEmbedded(count: number): Promise<Measured> {
  // As kwok's pods do: at once.
  const images = [{ images: '*', runner: simulated(systemClock, []) }];
  const cluster = await startCluster({ nodes: NODES, images });
  await cluster.ready;
  const client = new Client({ transport: cluster.server.transport(), userAgent: 'bench' });
  const measured = await measure(client, count, useOfThis);
  await cluster.stop();
  return measured;
}

async function onReal(count: number): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'polder-bench-'));
  const controlPlane = await startControlPlane({ dir, controllers: true, nodes: NODES });
  try {
    const transport = socketTransport(await kubeconfig([controlPlane.kubeconfig]));
    const measured = await measure(new Client({ transport, userAgent: 'bench' }), count, useOfChildren);
    await transport.close();
    return measured;
  } finally {
    await controlPlane.stop();
  }
}

async function inOwnProcess(peer: Peer, count: number): Promise<Measured> {
  const args = [...process.execArgv, '--max-semi-space-size=2', import.meta.filename, peer, String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const measured: Measured = JSON.parse(stdout);
  return measured;
}

async function print(): Promise<void> {
  console.log('| cluster | deployments | s | CPU s | CPU ms for each object | RSS MB |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const peer of ['embedded', 'real'] as const) {
    for (const size of SIZES) {
      const { seconds, cpuSeconds, rssMb } = await inOwnProcess(peer, size);
      // A deployment, its replica set and its pods.
      const each = (cpuSeconds * 1000) / (size * (2 + REPLICAS));
      const cells = [peer, size, seconds.toFixed(1), cpuSeconds.toFixed(1), each.toFixed(1), rssMb.toFixed(0)];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
}

const [peer, count] = process.argv.slice(2);
if (count === undefined) await print();
else console.log(JSON.stringify(await (peer === 'real' ? onReal : onEmbedded)(Number(count))));
