import { EndpointSlice, Endpoints, Node, Pod, register, Service } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { endpointSlices } from './index.ts';

let world: TestWorld;
beforeEach(async () => {
  world = new TestWorld().run(register(endpointSlices));
  await world.client.create(Node, { metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z' } } });
});
afterEach(() => world.stop());

const WEB = { namespace: 'default', name: 'web' };
const service = (spec: Service['spec'] = {}) =>
  world.client.create(Service, { metadata: WEB, spec: { ports: [{ port: 80 }], selector: { app: 'web' }, ...spec } });
let addresses = 0;

async function runningPod(name: string, { ready = true, spec = {} } = {}): Promise<Pod> {
  const containers = [{ name: 'c', image: 'i' }];
  const metadata = { namespace: 'default', name, labels: { app: 'web' } };
  const pod = await world.client.create(Pod, { metadata, spec: { nodeName: 'n', containers, ...spec } });
  await say(pod, { ready, ip: `10.0.${addresses >> 8}.${addresses++ & 255}` });
  return pod;
}

async function say(pod: Pod, { ready, ip }: { readonly ready: boolean; readonly ip?: string }): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '');
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
  const body = { status: { phase: 'Running', conditions, ...(ip && { podIP: ip }) } };
  await world.client.patch(Pod, pod.metadata, { type: 'strategic', body }, { subresource: 'status' });
}

const slices = async () => (await world.client.list(EndpointSlice)).items;
const endpoints = async () => (await slices()).flatMap((slice) => slice.endpoints ?? []);

test('a pod that becomes unready changes one slice, and nothing else', async () => {
  const pods: Pod[] = [];
  for (let i = 0; i < 130; i++) pods.push(await runningPod(`p-${i}`));
  await service();
  await world.settle();
  expect(new Set((await slices()).map((slice) => slice.endpoints?.length))).toEqual(new Set([100, 30]));
  world.writes.length = 0;
  const [first] = pods;
  if (first) await say(first, { ready: false });
  await world.settle();
  const slicesWritten = world.writes.filter((write) => write.includes('endpointslices'));
  expect(slicesWritten).toEqual([expect.stringMatching(/^PUT .*endpointslices\/web-/)]);
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('a pod of another service wakes nobody up', async () => {
  await service();
  await world.settle();
  world.writes.length = 0;
  const containers = [{ name: 'c', image: 'i' }];
  const metadata = { namespace: 'default', name: 'other', labels: { app: 'other' } };
  await world.client.create(Pod, { metadata, spec: { containers } });
  await world.settle();
  expect(world.writes).toEqual([]);
  expect(await endpoints()).toEqual([]);
});

test('the annotation says since when that is so which a slice was written for', async () => {
  const { metadata } = await service();
  const time = async () =>
    (await slices())[0]?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'];
  await world.settle(5_000);
  expect(await time()).toBe(metadata.creationTimestamp);
  const pod = await runningPod('a');
  const readySince = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '');
  await world.settle(5_000);
  expect(await time()).toBe(readySince);
  // That a pod is on its way out is no change of its readiness.
  await world.client.delete(Pod, pod.metadata);
  await world.settle(5_000);
  expect(await time()).toBeUndefined();
});

test('a pod on a node that nobody knows waits until somebody does', async () => {
  await service();
  await runningPod('a', { spec: { nodeName: 'late' } });
  await world.settle();
  expect(await endpoints()).toEqual([]);
  await world.client.create(Node, { metadata: { name: 'late', labels: { 'topology.kubernetes.io/zone': 'y' } } });
  await world.settle(10_000);
  expect(await endpoints()).toMatchObject([{ nodeName: 'late', zone: 'y' }]);
});

test('when the ports change, the slice becomes another instead of being replaced', async () => {
  await service();
  await runningPod('a');
  await world.settle();
  const [before] = await slices();
  const body = { spec: { ports: [{ port: 80, targetPort: 8080 }] } };
  await world.client.patch(Service, WEB, { type: 'merge', body });
  await world.settle();
  const [after, ...others] = await slices();
  expect(others).toEqual([]);
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
  expect(after?.ports).toMatchObject([{ port: 8080 }]);
});

test('a name for the outside and a service that selects nothing are left alone', async () => {
  await world.client.create(Service, { metadata: WEB, spec: { type: 'ExternalName', externalName: 'example.com' } });
  const metadata = { namespace: 'default', name: 'bare' };
  await world.client.create(Service, { metadata, spec: { ports: [{ port: 80 }] } });
  await world.settle();
  expect(await slices()).toEqual([]);
});

test('those who still read the old object find each port with the pods that have it', async () => {
  const ports = [
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'admin', port: 81, targetPort: 9000 },
  ];
  await service({ ports });
  const listening = (containerPort: number) => ({
    containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort }] }],
  });
  await runningPod('a', { spec: listening(8080) });
  await runningPod('b', { spec: listening(8081), ready: false });
  await world.settle();
  const { subsets = [] } = await world.client.get(Endpoints, WEB);
  const seen = subsets.map((subset) => ({
    ports: subset.ports?.map(({ port }) => port),
    ready: subset.addresses?.map(({ targetRef }) => targetRef?.name),
    unready: subset.notReadyAddresses?.map(({ targetRef }) => targetRef?.name),
  }));
  expect(new Set(seen)).toEqual(
    new Set([
      { ports: [9000], ready: ['a'], unready: ['b'] },
      { ports: [8080], ready: ['a'], unready: undefined },
      { ports: [8081], ready: undefined, unready: ['b'] },
    ]),
  );
});

test('a service that wants its traffic to stay near says of each ready endpoint for whom it is', async () => {
  await service({ trafficDistribution: 'PreferSameNode' });
  await runningPod('a');
  await runningPod('b', { ready: false });
  await world.settle();
  const hints = new Map((await endpoints()).map((one) => [one.targetRef?.name, one.hints]));
  expect(hints.get('a')).toEqual({ forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }] });
  expect(hints.get('b')).toBeUndefined();
  await world.client.patch(Service, WEB, { type: 'merge', body: { spec: { trafficDistribution: null } } });
  await world.settle();
  expect((await endpoints()).map((one) => one.hints)).toEqual([undefined, undefined]);
});
