import { Deployment, type NewObject, ReplicaSet, register } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replicaSets } from '../replica-set/index.ts';
import { TestWorld } from '../test-world.ts';
import { deployments } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(
    register(deployments, (base) => base),
    register(replicaSets, (base) => base),
  );
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'web' };
const web = (replicas: number): NewObject<Deployment> => ({
  metadata: ref,
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
  },
});

test('a', async () => {
  await world.client.create(Deployment, web(3));
  await world.until('three pods are available', async () => {
    const { status } = await world.client.get(Deployment, ref);
    return status?.availableReplicas === 3;
  });
  await world.settle();
  console.log(
    JSON.stringify(await world.client.get(Deployment, ref), (k, v) => (k === 'managedFields' ? undefined : v), 1),
  );
  console.log(
    JSON.stringify((await world.client.list(ReplicaSet)).items, (k, v) => (k === 'managedFields' ? undefined : v), 1),
  );
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});
