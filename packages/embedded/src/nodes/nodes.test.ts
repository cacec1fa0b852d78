import { type NewObject, Node, Pod, register } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { TestWorld } from '../controllers/test-world.ts';
import { evictions, type Machine, nodeLifecycle, nodeObjects } from './index.ts';

const machine: Machine = {
  cpus: 4,
  memoryBytes: 16 * 1024 ** 3,
  storageBytes: 100 * 1024 ** 3,
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6.1',
  osImage: 'Linux',
};

describe('the nodes of the cluster', () => {
  const nodes = nodeObjects(4, { machine, now: new Date(0), pods: 500 });

  it('have names, zones in turn, and addresses for pods of their own', () => {
    expect(
      nodes.map(({ metadata, spec }) => [
        metadata.name,
        metadata.labels?.['topology.kubernetes.io/zone'],
        spec.podCIDR,
      ]),
    ).toEqual([
      ['polder-1', 'a', '10.244.0.0/24'],
      ['polder-2', 'b', '10.244.1.0/24'],
      ['polder-3', 'c', '10.244.2.0/24'],
      ['polder-4', 'a', '10.244.3.0/24'],
    ]);
  });

  it('have what the machine has', () => {
    expect(nodes[0]?.status.allocatable).toEqual({
      cpu: '4',
      memory: '16Gi',
      'ephemeral-storage': '100Gi',
      pods: '500',
    });
  });
});

let world: TestWorld;
const own = nodeObjects(1, { machine, now: new Date('2026-01-01T00:00:00Z') });
beforeEach(() => {
  world = new TestWorld();
  world.run(register(nodeLifecycle(own)), register(evictions(world.clock)));
});
afterEach(() => world.stop());

const pod = (name: string, nodeName: string, spec: Partial<NonNullable<Pod['spec']>> = {}): NewObject<Pod> => ({
  metadata: { namespace: 'default', name },
  spec: { nodeName, containers: [{ name: 'c', image: 'nginx' }], ...spec },
});

const taintsOf = async (name: string) =>
  ((await world.client.get(Node, { name })).spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);

const setReady = (name: string, status: string) => {
  const body = { status: { conditions: [{ type: 'Ready', status, reason: 'Test', message: '' }] } };
  return world.client.patch(Node, { name }, { type: 'strategic', body }, { subresource: 'status' });
};

test('a node of ours has its status, and gets it back', async () => {
  for (const node of own) await world.client.create(Node, node);
  await world.settle();
  const name = 'polder-1';
  const isReady = async () => {
    const { status } = await world.client.get(Node, { name });
    return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  };
  expect(await isReady()).toBe('True');
  await setReady(name, 'False');
  await world.settle();
  expect(await isReady()).toBe('True');
  expect(await taintsOf(name)).toEqual([]);
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('taints follow the cordon and the conditions of any node, and leave those of others', async () => {
  const name = 'foreign';
  const taints = [{ key: 'mine', effect: 'NoSchedule' as const }];
  await world.client.create(Node, { metadata: { name }, spec: { unschedulable: true, taints } });
  await world.settle();
  expect(await taintsOf(name)).toEqual(['mine:NoSchedule', 'node.kubernetes.io/unschedulable:NoSchedule']);
  await setReady(name, 'Unknown');
  await world.client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: null } } });
  await world.settle();
  expect(await taintsOf(name)).toEqual([
    'mine:NoSchedule',
    'node.kubernetes.io/unreachable:NoSchedule',
    'node.kubernetes.io/unreachable:NoExecute',
  ]);
  await setReady(name, 'False');
  await world.settle();
  expect(await taintsOf(name)).toEqual([
    'mine:NoSchedule',
    'node.kubernetes.io/not-ready:NoSchedule',
    'node.kubernetes.io/not-ready:NoExecute',
  ]);
  await setReady(name, 'True');
  await world.settle();
  expect(await taintsOf(name)).toEqual(['mine:NoSchedule']);
});

test('a taint drives out who does not tolerate it at once, and who does when its time is over', async () => {
  const name = 'foreign';
  await world.client.create(Node, { metadata: { name } });
  const toleration = { key: 'fire', operator: 'Exists' as const };
  await world.client.create(Pod, pod('none', name));
  await world.client.create(Pod, pod('brave', name, { tolerations: [toleration] }));
  await world.client.create(
    Pod,
    pod('brief', name, { tolerations: [{ ...toleration, effect: 'NoExecute', tolerationSeconds: 60 }] }),
  );
  await world.settle();
  const leaving = async () =>
    (await world.pods())
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map((one) => one.metadata.name);
  expect(await leaving()).toEqual([]);
  const body = { spec: { taints: [{ key: 'fire', effect: 'NoExecute' }] } };
  await world.client.patch(Node, { name }, { type: 'merge', body });
  await world.settle();
  expect(await leaving()).toEqual(['none']);
  await world.settle(50_000);
  expect(await leaving()).toEqual(['none']);
  await world.settle(10_000);
  expect(await leaving()).toEqual(['brief', 'none']);
  const evicted = (await world.pods()).find(({ metadata }) => metadata.name === 'none');
  expect(evicted?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
  );
});

test('the pods of a node that is not ready are not ready, and have to go in the end', async () => {
  const name = 'foreign';
  await world.client.create(Node, { metadata: { name } });
  await setReady(name, 'True');
  await world.client.create(Pod, pod('p', name));
  await world.runPods();
  const state = async () => {
    const [found] = await world.pods();
    const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    return { ready, isLeaving: found?.metadata.deletionTimestamp !== undefined };
  };
  await world.settle();
  expect(await state()).toEqual({ ready: 'True', isLeaving: false });
  await setReady(name, 'Unknown');
  await world.settle();
  expect(await state()).toEqual({ ready: 'False', isLeaving: false });
  await world.settle(290_000);
  expect(await state()).toEqual({ ready: 'False', isLeaving: false });
  await world.settle(10_000);
  expect(await state()).toEqual({ ready: 'False', isLeaving: true });
});

test('the pods of a node that is gone are removed, those already on their way out too', async () => {
  await world.client.create(Node, { metadata: { name: 'foreign' } });
  await world.client.create(Pod, pod('left', 'foreign'));
  await world.client.create(Pod, pod('leaving', 'foreign'));
  await world.client.delete(Pod, { namespace: 'default', name: 'leaving' });
  await world.settle();
  expect(await world.pods()).toHaveLength(2);
  await world.client.delete(Node, { name: 'foreign' });
  await world.settle(4_000);
  expect(await world.pods()).toHaveLength(2);
  await world.settle(10_000);
  expect(await world.pods()).toEqual([]);
});

test('a pod whose finalizer outlives its node is told to go once', async () => {
  const held = pod('held', 'foreign');
  const metadata = { ...held.metadata, finalizers: ['example.com/hold'] };
  await world.client.create(Pod, { ...held, metadata });
  await world.settle(50_000);
  const [found] = await world.pods();
  expect(found?.status?.phase).toBe('Failed');
  expect(found?.metadata.deletionTimestamp).toBeDefined();
  world.writes.length = 0;
  await world.settle(3600_000);
  expect(world.writes).toEqual([]);
});

test('a node that comes back in time keeps its pods', async () => {
  await world.client.create(Node, { metadata: { name: 'foreign' } });
  await world.client.create(Pod, pod('left', 'foreign'));
  await world.client.delete(Node, { name: 'foreign' });
  await world.settle(3_000);
  await world.client.create(Node, { metadata: { name: 'foreign' } });
  await world.settle(60_000);
  expect(await world.pods()).toHaveLength(1);
});
