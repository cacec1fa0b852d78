import { type EmbeddedCluster, startCluster } from '@polder/embedded';
import { Client, ConfigMap, Deployment, Lease, silentLogger, systemClock } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Page, pages } from '../../test/pages.ts';
import { type Operators, startOperators } from './operators.ts';

const PATIENCE = { timeout: 10_000, interval: 20 };
let cluster: EmbeddedCluster;
let client: Client;
let operators: Operators[];
beforeEach(async () => {
  operators = [];
  cluster = await startCluster();
  await cluster.ready;
  client = new Client({ transport: cluster.server.transport(), userAgent: 'test' });
});
afterEach(async () => {
  for (const one of operators) await one.stop();
  await cluster.stop();
});

const start = async () => {
  const signal = new AbortController().signal;
  const started = await startOperators(cluster, [pages], { clock: systemClock, log: silentLogger, env: {}, signal });
  operators.push(started);
  return started;
};
const page = (name: string) =>
  client.create(Page, {
    metadata: { namespace: 'default', name },
    spec: { text: 'hello', configMap: `${name}-text` },
  });
const texts = async () => (await client.list(ConfigMap)).items.map(({ metadata }) => metadata.name);

describe('the operators of an embedded cluster', () => {
  test('bring their kinds with them, and what is declared comes to life', async () => {
    await start();
    await page('home');
    const isRunning = async () => {
      const { items } = await client.list(Deployment);
      return items.find(({ metadata }) => metadata.name === 'page-home')?.status?.readyReplicas === 1;
    };
    await expect.poll(isRunning, PATIENCE).toBe(true);
  });

  test('go on at once after a kill: the lease of the process that is gone is taken back', async () => {
    await start();
    const ref = { namespace: 'default', name: pages.lease };
    await operators.pop()?.stop();
    const held = {
      holderIdentity: 'polder-up_killed',
      leaseDurationSeconds: 3_600,
      renewTime: '2999-01-01T00:00:00.000000Z',
    };
    await client.patch(Lease, ref, { type: 'merge', body: { spec: held } });
    await start();
    await page('home');
    await expect.poll(texts, PATIENCE).toContain('home-text');
  });

  test('wait while somebody else leads, and begin when he gives up', async () => {
    const spec = { holderIdentity: 'laptop_1', leaseDurationSeconds: 3_600, renewTime: '2999-01-01T00:00:00.000000Z' };
    await client.create(Lease, { metadata: { namespace: 'default', name: pages.lease }, spec });
    await start();
    await page('home');
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'marker' } });
    await expect.poll(texts, PATIENCE).toContain('marker');
    expect(await texts()).not.toContain('home-text');
    const ref = { namespace: 'default', name: pages.lease };
    await client.patch(Lease, ref, { type: 'merge', body: { spec: { holderIdentity: '' } } });
    await expect.poll(texts, PATIENCE).toContain('home-text');
  });
});
