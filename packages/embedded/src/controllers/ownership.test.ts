import { type KubernetesObject, type ObjectMeta, Pod, ReplicaSet, register } from '@polder/kube';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adopt, claimant, claimsOf } from './ownership.ts';
import { replicaSets } from './replica-set/index.ts';
import { TestWorld } from './test-world.ts';

const object = (metadata: ObjectMeta): KubernetesObject => ({ apiVersion: 'v1', kind: 'Thing', metadata });
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

const things = fc.array(
  fc.record({ app: fc.constantFrom('web', 'db', ''), owner: fc.constantFrom('one', 'two', ''), isGoing: fc.boolean() }),
  { maxLength: 20, size: 'max' },
);

test('an object is claimed by one workload at most, and never taken from another', () => {
  fc.assert(
    fc.property(things, fc.boolean(), (all, isDeleted) => {
      const objects = all.map(({ app, owner, isGoing }, i) => ({
        owner,
        object: object({ name: `${i}`, labels: { app }, ...(isGoing && going) }),
      }));
      const of = (owner: string) => objects.filter((one) => one.owner === owner).map((one) => one.object);
      const workload = object({ name: 'one', uid: 'one', ...(isDeleted && going) });
      const { kept, adopted, released } = claimsOf(
        workload,
        { matchLabels: { app: 'web' } },
        { owned: of('one'), unowned: of('') },
      );
      const claimed = [...kept, ...adopted, ...released];
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(claimed.filter((one) => of('two').includes(one))).toEqual([]);
      for (const { metadata } of [...kept, ...adopted]) expect(metadata.labels?.['app']).toBe('web');
      for (const { metadata } of [...adopted, ...released]) expect(metadata.deletionTimestamp).toBeUndefined();
      if (isDeleted) expect([...adopted, ...released]).toEqual([]);
    }),
  );
});

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(replicaSets));
});
afterEach(() => world.stop());

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const spec = (replicas: number) => ({ replicas, selector: { matchLabels: { app: 'web' } }, template });
const set = (name: string, replicas: number) =>
  world.client.create(ReplicaSet, { metadata: { namespace: 'default', name }, spec: spec(replicas) });

test('two sets that want the same pod do not both get it', async () => {
  await set('one', 1);
  await world.settle();
  const [before] = await world.pods();
  await set('two', 1);
  // Let go by hand, it is up for grabs.
  const orphaned = { metadata: { ownerReferences: null } };
  await world.client.patch(Pod, before?.metadata ?? { name: '' }, { type: 'merge', body: orphaned });
  await world.until('each has a pod', async () => (await world.pods()).length >= 2);
  await world.settle();
  const pods = await world.pods();
  const owners = pods.map(({ metadata }) => metadata.ownerReferences?.map(({ name }) => name) ?? []);
  expect(owners.map((names) => names.length)).toEqual([1, 1]);
  expect(owners.flat().toSorted()).toEqual(['one', 'two']);
});

test('other owners of a pod stay when a set lets it go', async () => {
  await set('one', 1);
  await world.settle();
  const [pod] = await world.pods();
  const other = { apiVersion: 'v1', kind: 'Node', name: 'somebody', uid: 'somebody' };
  const body = { metadata: { labels: { app: 'debug' }, ownerReferences: [other] } };
  await world.client.patch(Pod, pod?.metadata ?? { name: '' }, { type: 'strategic', body });
  await world.settle();
  const freed = await world.client.get(Pod, pod?.metadata ?? { name: '' });
  expect(freed.metadata.ownerReferences).toEqual([other]);
});

test('an owner that is on its way out takes nothing in, even if the cache does not know yet', async () => {
  const metadata = { namespace: 'default', name: 'one', finalizers: ['example.com/hold'] };
  const cached = await world.client.create(ReplicaSet, { metadata, spec: spec(0) });
  await world.client.delete(ReplicaSet, cached.metadata);
  const stray = await world.client.create(Pod, {
    metadata: { namespace: 'default', name: 'stray', labels: { app: 'web' } },
    spec: template.spec,
  });
  const { client } = world;
  const cluster = { getLive: client.get.bind(client), patch: client.patch.bind(client) };
  await expect(adopt(cluster, Pod, stray, claimant(ReplicaSet, cached))).rejects.toThrow(
    'ReplicaSet one is being deleted and takes nothing in',
  );
  expect((await client.get(Pod, stray.metadata)).metadata).not.toHaveProperty('ownerReferences');
});
