import { type NewObject, Pod, ReplicaSet, register } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { replicaSets } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(replicaSets));
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'web' };
const web = (replicas: number): NewObject<ReplicaSet> => ({
  metadata: ref,
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
});

test('a replica set has as many pods as it wants, and says how many are ready', async () => {
  await world.client.create(ReplicaSet, web(3));
  await world.until('three pods are ready', async () => {
    const { status } = await world.client.get(ReplicaSet, ref);
    return status?.readyReplicas === 3;
  });
  expect(await world.pods()).toHaveLength(3);
  await world.client.setScale(ReplicaSet, ref, 1);
  await world.until('one pod is left', async () => (await world.pods()).length === 1);
});

test('once all is well, nothing is written', async () => {
  await world.client.create(ReplicaSet, web(2));
  await world.until('two pods are ready', async () => {
    const { status } = await world.client.get(ReplicaSet, ref);
    return status?.availableReplicas === 2;
  });
  await world.settle();
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('a pod that nobody controls is taken in, instead of making another', async () => {
  await world.client.create(Pod, {
    metadata: { namespace: 'default', name: 'stray', labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'nginx' }] },
  });
  await world.client.create(ReplicaSet, web(1));
  await world.settle();
  const pods = await world.pods();
  expect(pods.map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.name])).toEqual([['stray', 'web']]);
});
