/**
 * What the embedded cluster costs: `node bench/cluster/run.ts`. Deployments of two simulated pods each, made as fast as a
 * client can, until all are available; small and large in processes of their own, so that neither warms up the other.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startCluster } from '@polder/embedded';
import { Client, Deployment, type NewObject, systemClock } from '@polder/kube';
import { sleep } from '@polder/kube/clock';

const SIZES = [100, 1_000];
const REPLICAS = 2;

/** What one run prints, and the other reads. */
interface Measured {
  readonly deployments: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly rssMb: number;
  readonly writes: number;
}

const deployment = (name: string): NewObject<Deployment> => ({
  metadata: { namespace: 'default', name },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
});

async function measure(count: number): Promise<Measured> {
  const cluster = await startCluster({ nodes: 3 });
  await cluster.ready;
  const client = new Client({ transport: cluster.server.transport(), userAgent: 'bench' });
  const [startedAt, cpu, revision] = [performance.now(), process.cpuUsage(), cluster.server.revision];
  for (let i = 0; i < count; i++) await client.create(Deployment, deployment(`web-${i}`));
  for (;;) {
    const { items } = await client.list(Deployment, { namespace: 'default' });
    if (items.every(({ status }) => status?.availableReplicas === REPLICAS)) break;
    await sleep(systemClock, 200);
  }
  const used = process.cpuUsage(cpu);
  const measured = {
    deployments: count,
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
    rssMb: process.memoryUsage.rss() / 2 ** 20,
    writes: cluster.server.revision - revision,
  };
  await cluster.stop();
  return measured;
}

async function inOwnProcess(count: number): Promise<Measured> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...process.execArgv,
    import.meta.filename,
    String(count),
  ]);
  const measured: Measured = JSON.parse(stdout);
  return measured;
}

const [asked] = process.argv.slice(2);
if (asked !== undefined) {
  console.log(JSON.stringify(await measure(Number(asked))));
} else {
  console.log('| deployments | s | CPU s | CPU ms for each object | writes for each object | RSS MB |');
  console.log('| ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const size of SIZES) {
    const { deployments, seconds, cpuSeconds, writes, rssMb } = await inOwnProcess(size);
    // A deployment, its replica set and its pods.
    const objects = deployments * (2 + REPLICAS);
    const each = (total: number) => (total / objects).toFixed(1);
    const cells = [
      deployments,
      seconds.toFixed(1),
      cpuSeconds.toFixed(1),
      each(cpuSeconds * 1000),
      each(writes),
      rssMb.toFixed(0),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
