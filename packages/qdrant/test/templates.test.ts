import { findCondition, Manager, Namespace, type Product, register, silentLogger } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QdrantCollection, QdrantCollectionTemplate } from '../src/kinds/index.ts';
import { templates } from '../src/template/controller.ts';
import { type ApiWorld, apiWorld } from './api-world.ts';

const PATIENCE = { timeout: 10_000, interval: 20 };
const small = { name: 'small' };

let world: ApiWorld;
let writes: number;
let stop: AbortController;
let running: Promise<void>;
beforeEach(async () => {
  world = await apiWorld();
  [writes, stop] = [0, new AbortController()];
  const inner = world.server.transport();
  const transport: typeof inner = {
    request: (asked) => {
      if (asked.method !== 'GET' && asked.path.includes('/qdrantcollectiontemplates/')) writes++;
      return inner.request(asked);
    },
    close: () => inner.close(),
  };
  const product: Product = { name: 'qdrant', fieldManager: 'qdrant-operator', controllers: [register(templates())] };
  running = new Manager({ transport, userAgent: 'operator', products: [product], log: silentLogger }).run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const statusOf = async () => (await world.client.get(QdrantCollectionTemplate, small)).status;
const collection = (name: string, template: string, namespace = 'default') =>
  world.client.create(QdrantCollection, {
    metadata: { namespace, name, labels: { 'qdrant.operator/template': template } },
    spec: { cluster: 'vectors', vectorSize: 4 },
  });

test('a template knows how many collections of all namespaces were made from it, and when the last was', async () => {
  await world.client.create(Namespace, { metadata: { name: 'shop' } });
  await world.client.create(QdrantCollectionTemplate, { metadata: small, spec: small });
  await expect.poll(statusOf, PATIENCE).toMatchObject({ usageCount: 0 });
  await collection('a', 'small');
  await world.clock.advance(60_000);
  await collection('b', 'small', 'shop');
  await collection('c', 'large');
  const used = { usageCount: 2, lastUsed: '2026-03-01T12:01:00Z' };
  await expect.poll(statusOf, PATIENCE).toMatchObject(used);
  await world.client.delete(QdrantCollection, { namespace: 'shop', name: 'b' });
  await expect.poll(statusOf, PATIENCE).toMatchObject({ ...used, usageCount: 1 });
  const labels = { 'qdrant.operator/template': 'large' };
  await world.client.patch(
    QdrantCollection,
    { namespace: 'default', name: 'a' },
    { type: 'merge', body: { metadata: { labels } } },
  );
  await expect.poll(statusOf, PATIENCE).toMatchObject({ ...used, usageCount: 0 });
});

test('a template is written only when there is something to say', async () => {
  await world.client.create(QdrantCollectionTemplate, { metadata: small, spec: small });
  await expect.poll(statusOf, PATIENCE).toMatchObject({ usageCount: 0 });
  await collection('a', 'small');
  await expect.poll(statusOf, PATIENCE).toMatchObject({ usageCount: 1 });
  expect(writes).toBe(2);
  // Changes that do not concern its use bring it back into the queue all the same.
  const ref = { namespace: 'default', name: 'a' };
  await world.client.patch(QdrantCollection, ref, { type: 'merge', body: { spec: { replicationFactor: 2 } } });
  await collection('b', 'small');
  await expect.poll(statusOf, PATIENCE).toMatchObject({ usageCount: 2 });
  expect(writes).toBe(3);
});

test('a template that is found by another name than the one it gives itself is reported, until it is put right', async () => {
  await world.client.create(QdrantCollectionTemplate, { metadata: small, spec: { name: 'tiny' } });
  const ready = async () => findCondition((await statusOf())?.conditions, 'Ready');
  await expect.poll(ready, PATIENCE).toMatchObject({ status: 'False', reason: 'NameMismatch' });
  await world.client.patch(QdrantCollectionTemplate, small, { type: 'merge', body: { spec: small } });
  await expect.poll(ready, PATIENCE).toMatchObject({ status: 'True', observedGeneration: 2 });
});
