import { PersistentVolume, PersistentVolumeClaim, Pod, register, StorageClass } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { persistentVolumeClaims, persistentVolumes } from './index.ts';
import { standardClass } from './provisioner.ts';

let world: TestWorld;
let deleted: string[];
let isDiskBroken: boolean;
beforeEach(() => {
  deleted = [];
  isDiskBroken = false;
  const provisioner = {
    pathOf: (name: string) => `/volumes/${name}`,
    onVolumeDeleted: async ({ spec }: PersistentVolume) => {
      if (isDiskBroken) throw new Error('the disk is broken');
      deleted.push(spec?.hostPath?.path ?? '');
    },
  };
  world = new TestWorld().run(
    register(persistentVolumeClaims, (base) => ({ ...base, provisioner })),
    register(persistentVolumes, (base) => ({ ...base, provisioner })),
  );
});
afterEach(() => world.stop());

const DATA = { namespace: 'default', name: 'data' };
const claimData = (spec: PersistentVolumeClaim['spec'] = {}, name = 'data') =>
  world.client.create(PersistentVolumeClaim, {
    metadata: { ...DATA, name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
const offer = (name: string, spec: PersistentVolume['spec'] = {}) =>
  world.client.create(PersistentVolume, {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'manual',
      hostPath: { path: `/${name}` },
      ...spec,
    },
  });
const claim = (name = 'data') => world.client.get(PersistentVolumeClaim, { ...DATA, name });
const volume = (name: string) => world.client.get(PersistentVolume, { name });
const volumes = async () => (await world.client.list(PersistentVolume)).items;

test('a claim without a class gets a directory of this machine, and the directory goes with it', async () => {
  await world.client.create(StorageClass, standardClass);
  const { metadata, spec } = await claimData();
  expect(spec?.storageClassName).toBe('standard');
  await world.settle();
  const name = `pvc-${metadata.uid}`;
  expect(await claim()).toMatchObject({
    spec: { volumeName: name },
    status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
  });
  expect(await volume(name)).toMatchObject({
    spec: { hostPath: { path: `/volumes/${name}` }, persistentVolumeReclaimPolicy: 'Delete' },
    status: { phase: 'Bound' },
  });
  await world.client.delete(PersistentVolumeClaim, DATA);
  await world.settle();
  expect(await volumes()).toEqual([]);
  expect(deleted).toEqual([`/volumes/${name}`]);
});

test('a volume whose data cannot be removed stays until it can', async () => {
  await world.client.create(StorageClass, standardClass);
  await claimData();
  await world.settle();
  isDiskBroken = true;
  await world.client.delete(PersistentVolumeClaim, DATA);
  await world.settle();
  expect(await volumes()).toMatchObject([{ status: { phase: 'Released' } }]);
  isDiskBroken = false;
  await world.settle(60_000);
  expect(await volumes()).toEqual([]);
});

test('a claim that asks for more gets it, and one whose class does not grow is told so', async () => {
  await world.client.create(StorageClass, standardClass);
  const metadata = { name: 'fixed' };
  await world.client.create(StorageClass, { ...standardClass, metadata, allowVolumeExpansion: false });
  await claimData();
  await claimData({ storageClassName: 'fixed' }, 'fixed');
  await world.settle();
  const grown = { type: 'merge', body: { spec: { resources: { requests: { storage: '3Gi' } } } } } as const;
  await world.client.patch(PersistentVolumeClaim, DATA, grown);
  await world.settle();
  const { spec, status } = await claim();
  expect(status?.capacity).toEqual({ storage: '3Gi' });
  expect((await volume(spec?.volumeName ?? '')).spec?.capacity).toEqual({ storage: '3Gi' });
  const refused = world.client.patch(PersistentVolumeClaim, { ...DATA, name: 'fixed' }, grown);
  await expect(refused).rejects.toThrow('must support resize');
});

test('a default class that comes later is for the claims that wait, too', async () => {
  await claimData();
  await world.settle();
  expect((await claim()).status).toEqual({ phase: 'Pending' });
  await world.client.create(StorageClass, standardClass);
  await world.settle();
  expect((await claim()).status?.phase).toBe('Bound');
});

test('of many claims that want one volume, one gets it', async () => {
  await offer('only');
  await world.settle();
  for (let i = 0; i < 5; i++) await claimData({ storageClassName: 'manual' }, `data-${i}`);
  await world.settle(10_000);
  const { items } = await world.client.list(PersistentVolumeClaim);
  expect(items.filter(({ status }) => status?.phase === 'Bound')).toHaveLength(1);
  expect(items.filter(({ spec }) => spec?.volumeName === 'only')).toHaveLength(1);
});

test('a volume that is for nobody any more keeps its data, and is not handed out', async () => {
  await offer('kept');
  await claimData({ storageClassName: 'manual' });
  await world.settle();
  await world.client.delete(PersistentVolumeClaim, DATA);
  await world.settle();
  await claimData({ storageClassName: 'manual' });
  await world.settle(10_000);
  expect((await volume('kept')).status?.phase).toBe('Released');
  expect((await claim()).status?.phase).toBe('Pending');
  expect(deleted).toEqual([]);
});

test('of several volumes that name a claim, those that it does not take are free for it again', async () => {
  const claimRef = { name: 'data', namespace: 'default' };
  await offer('a', { claimRef });
  await claimData({ storageClassName: 'manual' });
  await world.settle();
  const { metadata, spec } = await claim();
  expect(spec?.volumeName).toBe('a');
  await offer('b', { claimRef: { ...claimRef, uid: metadata.uid ?? '' } });
  await world.settle();
  const { spec: other, status } = await volume('b');
  expect(other?.claimRef).toMatchObject(claimRef);
  expect(other?.claimRef?.uid).toBeUndefined();
  expect(status?.phase).toBe('Available');
});

test('a volume that nobody here can delete says so', async () => {
  await offer('a', { persistentVolumeReclaimPolicy: 'Delete' });
  await claimData({ storageClassName: 'manual' });
  await world.settle();
  await world.client.delete(PersistentVolumeClaim, DATA);
  await world.settle();
  expect((await volume('a')).status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('deleter') });
});

test('a claim that a pod uses waits for the pod, not for one that has no node', async () => {
  await offer('a');
  await claimData({ storageClassName: 'manual' });
  await world.settle();
  const use = (name: string, nodeName?: string) =>
    world.client.create(Pod, {
      metadata: { ...DATA, name },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
        ...(nodeName && { nodeName }),
      },
    });
  await use('placed', 'n');
  await use('unplaced');
  await world.client.delete(PersistentVolumeClaim, DATA);
  await world.settle();
  expect((await claim()).metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await world.client.delete(Pod, { ...DATA, name: 'placed' }, { gracePeriodSeconds: 0 });
  await world.settle();
  expect((await world.client.list(PersistentVolumeClaim)).items).toEqual([]);
});

test('a claim whose volume is gone is lost, and stays so', async () => {
  await offer('a');
  await claimData({ storageClassName: 'manual' });
  await world.settle();
  await world.client.delete(PersistentVolume, { name: 'a' });
  await world.settle();
  expect((await volume('a')).status?.phase).toBe('Bound');
  await world.client.patch(
    PersistentVolume,
    { name: 'a' },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  await offer('another');
  await world.settle();
  expect((await claim()).status).toEqual({ phase: 'Lost' });
  expect((await volume('another')).status?.phase).toBe('Available');
});

test('a claim whose binding was interrupted after any of its writes is bound all the same', async () => {
  await world.client.create(StorageClass, standardClass);
  const writes = [
    { verb: 'create', plural: 'persistentvolumes' },
    { verb: 'patch', plural: 'persistentvolumes' },
    { verb: 'patch', plural: 'persistentvolumeclaims' },
    { verb: 'patch', plural: 'persistentvolumeclaims', subresource: 'status' },
  ] as const;
  for (const [i, write] of writes.entries()) {
    world.server.faults.on({ ...write, count: 1 }, { do: 'fail', when: 'after' });
    const name = `data-${i}`;
    await claimData(i === 1 ? { storageClassName: 'manual' } : {}, name);
    if (i === 1) await offer('manual');
    await world.settle(10_000);
    const { spec, status } = await claim(name);
    expect([name, status?.phase]).toEqual([name, 'Bound']);
    expect((await volume(spec?.volumeName ?? '')).status?.phase).toBe('Bound');
  }
  expect(await volumes()).toHaveLength(writes.length);
});

test('once all are bound, nothing is written', async () => {
  await world.client.create(StorageClass, standardClass);
  await claimData();
  await offer('a');
  await claimData({ storageClassName: 'manual' }, 'manual');
  await claimData({ storageClassName: 'nowhere' }, 'waiting');
  await world.settle(10_000);
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});
