import { type EmbeddedCluster, startCluster } from '@polder/embedded';
import { Client, ConfigMap, Deployment, Lease, silentLogger, systemClock } from '@polder/kube';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePorts } from '../../../../tools/free-ports.ts';
import { Page, pages } from '../../test/pages.ts';
import type { BuiltInProduct } from '../products.ts';
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

const start = async (product: BuiltInProduct = pages, env: NodeJS.ProcessEnv = {}) => {
  const signal = new AbortController().signal;
  const started = await startOperators(cluster, [product], { clock: systemClock, log: silentLogger, env, signal });
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

  test('serve what their product serves of its own, until they are stopped', async () => {
    const [port = 0] = await freePorts(1);
    const app = new Hono().get('/', (context) => context.text('hello'));
    const servers: BuiltInProduct['servers'] = ({ env }) =>
      env['IS_SERVED'] === 'yes' ? [{ name: 'pages', app, bindAddress: { host: '127.0.0.1', port } }] : [];
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        (answer) => answer.text(),
        () => 'nobody',
      );
    const operator = await start({ ...pages, servers }, { IS_SERVED: 'yes' });
    await expect.poll(ask, PATIENCE).toBe('hello');
    await operator.stop();
    expect(await ask()).toBe('nobody');
  });

  test('go on at once after a kill: the lease of the process that is gone is taken back', async () => {
    await start();
    const ref = { namespace: 'default', name: pages.lease };
    const leases = async () => (await client.list(Lease)).items.map(({ metadata }) => metadata.name);
    await expect.poll(leases, PATIENCE).toContain(pages.lease);
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
