import { ConfigMap, isNotFound, Job, Namespace, Pod, register, Secret } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { NamespaceContents, namespaces } from './index.ts';

let world: TestWorld;
let unfollow: () => void;
beforeEach(async () => {
  world = new TestWorld();
  const contents = new NamespaceContents();
  unfollow = contents.follow(world.server);
  world.run(register(namespaces({ contents, client: world.client })));
  await world.client.create(Namespace, { metadata: { name: 'n' } });
  await world.settle();
});
afterEach(async () => {
  unfollow();
  await world.stop();
});

const metadata = (name: string, finalizers: readonly string[] = []) => ({ name, namespace: 'n', finalizers });
const release = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
const pod = (name: string, finalizers?: readonly string[]) => ({
  metadata: metadata(name, finalizers),
  spec: { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] },
});

async function isGone(): Promise<boolean> {
  try {
    await world.client.get(Namespace, { name: 'n' });
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

const complaints = async () =>
  (await world.client.get(Namespace, { name: 'n' })).status?.conditions?.filter(({ status }) => status === 'True');

test('a namespace takes everything in it along, of whatever kind', async () => {
  await world.client.create(ConfigMap, { metadata: metadata('a') });
  await world.client.create(Secret, { metadata: metadata('a') });
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'i' }] } };
  await world.client.create(Job, { metadata: metadata('a'), spec: { template } });
  await world.client.create(ConfigMap, { metadata: { name: 'elsewhere', namespace: 'default' } });
  await world.client.delete(Namespace, { name: 'n' });
  await world.settle();
  expect(await isGone()).toBe(true);
  expect((await world.client.list(ConfigMap)).items.map(({ metadata: { name } }) => name)).toEqual(['elsewhere']);
  expect((await world.client.list(Job)).items).toEqual([]);
});

test('nothing of a pod is taken away before the pod itself has ended', async () => {
  await world.client.create(Pod, pod('a'));
  await world.client.create(Secret, { metadata: metadata('a') });
  await world.client.delete(Namespace, { name: 'n' });
  await world.settle();
  const [ending] = await world.pods('n');
  expect(ending?.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
  expect((await world.client.list(Secret, { namespace: 'n' })).items).toHaveLength(1);
  await world.runPods();
  await world.settle();
  expect(await isGone()).toBe(true);
});

test('a pod that does not end in its time is told of', async () => {
  await world.client.create(Pod, pod('a'));
  await world.client.delete(Namespace, { name: 'n' });
  await world.settle();
  expect(await complaints()).toEqual([]);
  await world.settle(30_000);
  const message =
    'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods';
  expect(await complaints()).toMatchObject([{ reason: 'ContentDeletionFailed', message }]);
});

test('what keeps a namespace is told, and it goes as soon as nothing does', async () => {
  await world.client.create(ConfigMap, { metadata: metadata('a', ['example.com/hold']) });
  await world.client.create(ConfigMap, { metadata: metadata('b', ['example.com/hold', 'example.com/too']) });
  await world.client.delete(Namespace, { name: 'n' });
  await world.settle();
  expect(await complaints()).toMatchObject([
    {
      type: 'NamespaceContentRemaining',
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: configmaps. has 2 resource instances',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      reason: 'SomeFinalizersRemain',
      message:
        'Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances, example.com/too in 1 resource instances',
    },
  ]);
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
  for (const name of ['a', 'b']) await world.client.patch(ConfigMap, { name, namespace: 'n' }, release);
  await world.settle();
  expect(await isGone()).toBe(true);
});

test('what the server does not let go is told, and the rest goes all the same', async () => {
  world.server.faults.on({ verb: 'delete', name: 'a', count: 3 }, { do: 'fail', when: 'before' });
  await world.client.create(ConfigMap, { metadata: metadata('a') });
  await world.client.create(ConfigMap, { metadata: metadata('b') });
  await world.client.create(Secret, { metadata: metadata('c') });
  const watched = world.client.watch(Namespace, { fieldSelector: 'metadata.name=n' });
  const seen: string[] = [];
  const watching = (async () => {
    for await (const events of watched) {
      for (const event of events) if (event.type === 'MODIFIED') seen.push(JSON.stringify(event.object.status));
      if (events.some(({ type }) => type === 'DELETED')) return;
    }
  })();
  await world.settle();
  await world.client.delete(Namespace, { name: 'n' });
  await world.settle(10_000);
  expect(await isGone()).toBe(true);
  await watching;
  expect(seen.some((status) => status.includes('ContentDeletionFailed'))).toBe(true);
});

test("somebody else's finalizer keeps the namespace when everything in it is gone", async () => {
  await world.client.patch(Namespace, { name: 'n' }, { type: 'merge', body: { metadata: { finalizers: ['a.b/c'] } } });
  await world.client.delete(Namespace, { name: 'n' });
  await world.settle();
  const { spec, status } = await world.client.get(Namespace, { name: 'n' });
  expect(spec?.finalizers ?? []).toEqual([]);
  expect(status?.phase).toBe('Terminating');
  await world.client.patch(Namespace, { name: 'n' }, release);
  expect(await isGone()).toBe(true);
});

test('as long as nobody has looked what is in them, no namespace counts as empty', () => {
  expect(() => new NamespaceContents().of('n')).toThrow('not known');
});
