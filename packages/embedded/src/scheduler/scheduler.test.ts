import {
  EventsV1Event,
  type NewObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PriorityClass,
  register,
  StorageClass,
} from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestWorld } from '../controllers/test-world.ts';
import { scheduler } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(scheduler()));
});
afterEach(() => world.stop());

const RESOURCES = { cpu: '2', memory: '4Gi', pods: '110' };

async function addNode(name: string, spec: Node['spec'] = {}): Promise<void> {
  const metadata = { name, labels: { 'kubernetes.io/hostname': name } };
  await world.client.create(Node, { metadata, spec });
  const body = { status: { allocatable: RESOURCES, capacity: RESOURCES } };
  await world.client.patch(Node, { name }, { type: 'merge', body }, { subresource: 'status' });
}

const pod = (name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): NewObject<Pod> => ({
  metadata: { namespace: 'default', name, labels: { app: name } },
  spec: { containers: [{ name: 'c', image: 'nginx' }], ...spec },
});

const asking = (cpu: string) => [{ name: 'c', image: 'nginx', resources: { requests: { cpu } } }];

const nodeOf = async (name: string) =>
  (await world.client.get(Pod, { namespace: 'default', name })).spec?.nodeName ?? '';

const scheduled = async (name: string) => {
  const { status } = await world.client.get(Pod, { namespace: 'default', name });
  return status?.conditions?.find(({ type }) => type === 'PodScheduled');
};

test('pods get nodes, evenly, and an event says which', async () => {
  await addNode('a');
  await addNode('b');
  await world.client.create(Pod, pod('one'));
  await world.client.create(Pod, pod('two'));
  await world.settle();
  expect([await nodeOf('one'), await nodeOf('two')]).toEqual(['a', 'b']);
  expect(await scheduled('one')).toMatchObject({ status: 'True' });
  const events = await world.client.list(EventsV1Event, { namespace: 'default' });
  expect(events.items.map(({ reason, note }) => `${reason}: ${note}`)).toEqual([
    'Scheduled: Successfully assigned default/one to a',
    'Scheduled: Successfully assigned default/two to b',
  ]);
});

test('a pod that fits nowhere says why, and goes as soon as there is room', async () => {
  await addNode('a');
  await world.client.create(Pod, pod('big', { containers: asking('1500m') }));
  await world.settle();
  await world.client.create(Pod, pod('late', { containers: asking('1') }));
  await world.settle();
  const because =
    '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
  expect(await scheduled('late')).toMatchObject({ status: 'False', reason: 'Unschedulable', message: because });
  const events = await world.client.list(EventsV1Event, { namespace: 'default' });
  expect(events.items).toContainEqual(expect.objectContaining({ reason: 'FailedScheduling', note: because }));

  world.writes.length = 0;
  await world.settle(3600_000);
  expect(world.writes).toEqual([]);

  await world.client.delete(Pod, { namespace: 'default', name: 'big' }, { gracePeriodSeconds: 0 });
  await world.settle();
  expect(await nodeOf('late')).toBe('a');
  expect(await scheduled('late')).toMatchObject({ status: 'True' });
});

test('without a node a pod waits for one', async () => {
  await world.client.create(Pod, pod('early'));
  await world.settle();
  expect(await scheduled('early')).toMatchObject({ message: 'no nodes available to schedule pods' });
  await addNode('a', { unschedulable: true });
  await world.settle();
  expect(await scheduled('early')).toMatchObject({
    message: expect.stringContaining('1 node(s) were unschedulable.'),
  });
  await world.client.patch(Node, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: false } } });
  await world.settle();
  expect(await nodeOf('early')).toBe('a');
});

test('the more important of two pods gets the last place', async () => {
  await world.client.create(PriorityClass, { metadata: { name: 'urgent' }, value: 100 });
  await world.client.create(Pod, pod('plain', { containers: asking('2') }));
  await world.client.create(Pod, pod('urgent', { containers: asking('2'), priorityClassName: 'urgent' }));
  await addNode('a');
  await world.settle();
  expect([await nodeOf('plain'), await nodeOf('urgent')]).toEqual(['', 'a']);
});

test('a gated pod waits until its gates are lifted', async () => {
  await addNode('a');
  await world.client.create(Pod, pod('gated', { schedulingGates: [{ name: 'example.com/quota' }] }));
  await world.settle();
  expect(await nodeOf('gated')).toBe('');
  expect(await scheduled('gated')).toMatchObject({ status: 'False', reason: 'SchedulingGated' });
  const body = { spec: { schedulingGates: [] } };
  await world.client.patch(Pod, { namespace: 'default', name: 'gated' }, { type: 'merge', body });
  await world.settle();
  expect(await nodeOf('gated')).toBe('a');
});

test('pods of another scheduler are left alone', async () => {
  await addNode('a');
  await world.client.create(Pod, pod('other', { schedulerName: 'mine' }));
  await world.settle();
  expect(await nodeOf('other')).toBe('');
  expect(await scheduled('other')).toBeUndefined();
});

test('a claim that is bound late gets its node first, and the pod goes there when it is bound', async () => {
  await addNode('a');
  await world.client.create(StorageClass, {
    metadata: { name: 'late' },
    provisioner: 'example.com/disks',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  await world.client.create(Pod, pod('db', { volumes }));
  await world.settle();
  expect(await scheduled('db')).toMatchObject({
    message: '0/1 nodes are available: persistentvolumeclaim "data" not found. not found',
  });
  const ref = { namespace: 'default', name: 'data' };
  await world.client.create(PersistentVolumeClaim, {
    metadata: ref,
    spec: { storageClassName: 'late', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await world.settle();
  const claim = await world.client.get(PersistentVolumeClaim, ref);
  expect(claim.metadata.annotations).toMatchObject({ 'volume.kubernetes.io/selected-node': 'a' });
  expect(await nodeOf('db')).toBe('');
  await bind(ref);
  await world.settle();
  expect(await nodeOf('db')).toBe('a');
});

test('a volume that is there is reserved for the claim, and the pod goes to where it is', async () => {
  await addNode('a');
  await addNode('b');
  await world.client.create(StorageClass, {
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const ref = { namespace: 'default', name: 'data' };
  await world.client.create(PersistentVolumeClaim, {
    metadata: ref,
    spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await world.client.create(Pod, pod('db', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] }));
  await world.settle();
  expect((await scheduled('db'))?.message).toContain("2 node(s) didn't find available persistent volumes to bind");

  const here = { key: 'kubernetes.io/hostname', operator: 'In' as const, values: ['b'] };
  await world.client.create(PersistentVolume, {
    metadata: { name: 'disk' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      local: { path: '/disk' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
    },
  });
  const available = { status: { phase: 'Available' } };
  await world.client.patch(
    PersistentVolume,
    { name: 'disk' },
    { type: 'merge', body: available },
    { subresource: 'status' },
  );
  await world.settle();
  const { spec } = await world.client.get(PersistentVolume, { name: 'disk' });
  expect(spec?.claimRef).toMatchObject({ kind: 'PersistentVolumeClaim', ...ref });

  world.writes.length = 0;
  await world.settle(60_000);
  expect(world.writes).toEqual([]);

  await finish(ref, 'disk');
  await world.settle();
  expect(await nodeOf('db')).toBe('b');
});

test('a pod that must be near another goes when that one has come', async () => {
  await addNode('a');
  await addNode('b');
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  await world.client.create(Pod, pod('web', { affinity }));
  await world.settle();
  expect((await scheduled('web'))?.message).toContain("2 node(s) didn't match pod affinity rules");
  await world.client.create(Pod, pod('db', { nodeSelector: { 'kubernetes.io/hostname': 'b' } }));
  await world.settle();
  expect(await nodeOf('web')).toBe('b');
});

/** What the storage controllers do. */
async function bind(ref: { readonly namespace: string; readonly name: string }): Promise<void> {
  await world.client.create(PersistentVolume, {
    metadata: { name: 'pv' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'late',
      hostPath: { path: '/data' },
      claimRef: { ...ref },
    },
  });
  await finish(ref, 'pv');
}

async function finish(ref: { readonly namespace: string; readonly name: string }, volumeName: string): Promise<void> {
  const { client } = world;
  await client.patch(PersistentVolumeClaim, ref, { type: 'merge', body: { spec: { volumeName } } });
  const body = { status: { phase: 'Bound' } };
  await client.patch(PersistentVolumeClaim, ref, { type: 'merge', body }, { subresource: 'status' });
}
