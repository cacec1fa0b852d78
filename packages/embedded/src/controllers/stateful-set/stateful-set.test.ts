import {
  ControllerRevision,
  EventsV1Event,
  type NewObject,
  PersistentVolumeClaim,
  Pod,
  register,
  StatefulSet,
  type StatefulSetSpec,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { statefulSets } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(statefulSets));
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'web' };
const template = (image = 'nginx') => ({
  metadata: { labels: { app: 'web' } },
  // On a node: pods that have none go at once when they are deleted.
  spec: { nodeName: 'somewhere', containers: [{ name: 'c', image }] },
});
const web = (spec: Partial<StatefulSetSpec> = {}): NewObject<StatefulSet> => ({
  metadata: ref,
  spec: { selector: { matchLabels: { app: 'web' } }, serviceName: 'peers', template: template(), ...spec },
});
const DATA: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

const create = (spec: Partial<StatefulSetSpec> = {}) => world.client.create(StatefulSet, web(spec));
const change = (spec: object) => world.client.patch(StatefulSet, ref, { type: 'merge', body: { spec } });
const get = () => world.client.get(StatefulSet, ref);
const status = async () => (await get()).status;
const names = async () => (await world.pods()).map(({ metadata }) => metadata.name).toSorted();
const member = (ordinal: number) => world.client.get(Pod, { ...ref, name: `web-${ordinal}` });
const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image;
const claims = async () => (await world.client.list(PersistentVolumeClaim, { namespace: 'default' })).items;

const rolledOut = (replicas: number) =>
  world.until(`${replicas} members are there, ready and up to date`, async () => {
    const { metadata, status: seen } = await get();
    return (
      seen?.observedGeneration === metadata.generation &&
      seen?.currentRevision === seen?.updateRevision &&
      [seen?.replicas, seen?.availableReplicas ?? 0, seen?.updatedReplicas ?? 0].every((count) => count === replicas)
    );
  });

test('a member has its own name, host name and labels, and the set says how many there are', async () => {
  await create({ replicas: 2, ordinals: { start: 5 } });
  await rolledOut(2);
  expect(await names()).toEqual(['web-5', 'web-6']);
  const { status: seen } = await get();
  expect(seen).toEqual({
    replicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    currentReplicas: 2,
    updatedReplicas: 2,
    collisionCount: 0,
    observedGeneration: 1,
    currentRevision: expect.stringMatching(/^web-\w+$/),
    updateRevision: seen?.currentRevision,
  });
  expect(await member(5)).toMatchObject({
    metadata: {
      generateName: 'web-',
      labels: {
        app: 'web',
        'statefulset.kubernetes.io/pod-name': 'web-5',
        'apps.kubernetes.io/pod-index': '5',
        'controller-revision-hash': seen?.currentRevision,
      },
      ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }],
    },
    spec: { hostname: 'web-5', subdomain: 'peers' },
  });
});

test('once all is well, nothing is written', async () => {
  await create({ replicas: 2, volumeClaimTemplates: [DATA], minReadySeconds: 5 });
  await rolledOut(2);
  await world.settle();
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

const notes = async () => {
  const { items } = await world.client.list(EventsV1Event, { namespace: 'default' });
  return items.map(({ reason, note }) => `${reason}: ${note}`);
};
const ready = async (ordinal: number) => world.report(await member(ordinal), { phase: 'Running', ready: true });
const unready = async (ordinal: number) => world.report(await member(ordinal), { phase: 'Running', ready: false });
const terminating = async () =>
  (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);

/** One after the other, waiting for nothing but what the set itself does. */
async function ended(...ordinals: readonly number[]): Promise<void> {
  for (const ordinal of ordinals) await world.finishDeletion(await member(ordinal));
  await world.settle();
}

describe('an ordered set', () => {
  test('starts a member only when the one before it has been ready for long enough', async () => {
    await create({ replicas: 3, minReadySeconds: 10 });
    await world.settle();
    expect(await names()).toEqual(['web-0']);
    await ready(0);
    await world.settle(9_000);
    expect(await names()).toEqual(['web-0']);
    expect(await status()).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
    await world.settle(2_000);
    expect(await names()).toEqual(['web-0', 'web-1']);
  });

  test('shrinks from the top, each member once the one above it is gone', async () => {
    await create({ replicas: 3 });
    await rolledOut(3);
    await change({ replicas: 1 });
    await world.settle();
    expect(await terminating()).toEqual(['web-2']);
    await ended(2);
    expect(await terminating()).toEqual(['web-1']);
    await ended(1);
    expect(await names()).toEqual(['web-0']);
    expect(await status()).toMatchObject({ replicas: 1, currentReplicas: 1 });
  });

  test('does not shrink while a member that stays is not ready', async () => {
    await create({ replicas: 2 });
    await rolledOut(2);
    await unready(0);
    await change({ replicas: 1 });
    await world.settle(60_000);
    expect(await terminating()).toEqual([]);
    await ready(0);
    await world.settle();
    expect(await terminating()).toEqual(['web-1']);
  });

  test('replaces a member that failed, whether it ended well or badly', async () => {
    await create({ replicas: 1 });
    await rolledOut(1);
    for (const phase of ['Failed', 'Succeeded']) {
      await world.report(await member(0), { phase, ready: false });
      await world.settle();
      expect(await member(0)).toMatchObject({ metadata: { name: 'web-0' }, status: { phase: 'Pending' } });
    }
  });

  test('waits for a member that is being deleted, and starts it anew in its old place', async () => {
    await create({ replicas: 2 });
    await rolledOut(2);
    await world.client.delete(Pod, { ...ref, name: 'web-0' });
    await world.settle(60_000);
    expect(await names()).toEqual(['web-0', 'web-1']);
    await ended(0);
    expect(await names()).toEqual(['web-0', 'web-1']);
    expect(await terminating()).toEqual([]);
  });
});

test('an unordered set starts and stops all members at once, and still updates one at a time', async () => {
  await create({ replicas: 3, podManagementPolicy: 'Parallel' });
  await world.settle();
  expect(await names()).toEqual(['web-0', 'web-1', 'web-2']);
  await rolledOut(3);
  await change({ template: template('new') });
  await world.settle(60_000);
  expect(await terminating()).toEqual(['web-2']);
  await change({ replicas: 0 });
  await world.settle();
  expect(await terminating()).toEqual(['web-0', 'web-1', 'web-2']);
});

describe('an update', () => {
  test('replaces members from the top, each once the one above it is ready', async () => {
    await create({ replicas: 3 });
    await rolledOut(3);
    const before = await status();
    await change({ template: template('new') });
    for (const ordinal of [2, 1, 0]) {
      await world.settle();
      expect(await terminating()).toEqual([`web-${ordinal}`]);
      await ended(ordinal);
      expect(imageOf(await member(ordinal))).toBe('new');
      expect(await terminating()).toEqual([]);
      expect(await status()).toMatchObject({ currentRevision: before?.currentRevision, updatedReplicas: 3 - ordinal });
      await ready(ordinal);
    }
    await rolledOut(3);
    expect((await status())?.currentRevision).not.toBe(before?.currentRevision);
  });

  test('leaves members below the partition as they are, even those that are made anew', async () => {
    await create({ replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    await rolledOut(3);
    await change({ template: template('new') });
    await world.until('the last member is new', async () => (await status())?.updatedReplicas === 1);
    await world.client.delete(Pod, { ...ref, name: 'web-0' });
    await world.settle();
    await world.until('the first member is back', async () => (await status())?.currentReplicas === 2);
    expect((await world.pods()).map(imageOf)).toEqual(['nginx', 'nginx', 'new']);
    const seen = await status();
    expect(seen).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
    expect(seen?.currentRevision).not.toBe(seen?.updateRevision);
    await change({ updateStrategy: { rollingUpdate: { partition: 0 } } });
    await rolledOut(3);
  });

  test('on delete waits for the user to delete a member', async () => {
    await create({ replicas: 2, updateStrategy: { type: 'OnDelete' } });
    await world.until('both are ready', async () => (await status())?.readyReplicas === 2);
    await change({ template: template('new') });
    await world.settle(60_000);
    expect(await terminating()).toEqual([]);
    await world.client.delete(Pod, { ...ref, name: 'web-0' });
    await world.until('it is new', async () => (await status())?.updatedReplicas === 1);
    expect((await world.pods()).map(imageOf)).toEqual(['new', 'nginx']);
  });

  test('that breaks a member stops there, and so does its rollback until the user deletes that member', async () => {
    await create({ replicas: 2 });
    await rolledOut(2);
    await change({ template: template('broken') });
    await world.settle();
    await ended(1);
    await change({ template: template() });
    await world.settle(600_000);
    expect((await world.pods()).map(imageOf)).toEqual(['nginx', 'broken']);
    expect(await terminating()).toEqual([]);
    await world.client.delete(Pod, { ...ref, name: 'web-1' });
    await rolledOut(2);
    expect((await world.pods()).map(imageOf)).toEqual(['nginx', 'nginx']);
  });

  test('back to an earlier template uses its revision again, and history ends where the set says', async () => {
    await create({ replicas: 1, revisionHistoryLimit: 1 });
    const revisions = async () => (await world.client.list(ControllerRevision, { namespace: 'default' })).items;
    const numbers = async () => (await revisions()).map(({ revision }) => revision).toSorted((a, b) => a - b);
    await rolledOut(1);
    const first = (await status())?.currentRevision;
    await change({ template: template('b') });
    await rolledOut(1);
    await change({ template: template() });
    await rolledOut(1);
    expect((await status())?.currentRevision).toBe(first);
    expect(await numbers()).toEqual([2, 3]);
    for (const image of ['c', 'd']) {
      await change({ template: template(image) });
      await rolledOut(1);
    }
    await world.settle();
    expect(await numbers()).toEqual([4, 5]);
  });

  test('whose revision name is taken gets another one', async () => {
    await create({ replicas: 1 });
    await rolledOut(1);
    const [first] = (await world.client.list(ControllerRevision, { namespace: 'default' })).items;
    await world.client.delete(StatefulSet, ref);
    await world.client.delete(ControllerRevision, first?.metadata ?? ref);
    await world.client.create(ControllerRevision, {
      metadata: { namespace: 'default', name: first?.metadata.name ?? '' },
      data: { other: true },
      revision: 1,
    });
    await world.client.delete(Pod, { ...ref, name: 'web-0' });
    await world.until('the old member is gone', async () => (await world.pods()).length === 0);
    await create({ replicas: 1 });
    await rolledOut(1);
    expect(await status()).toMatchObject({ collisionCount: 1 });
    expect((await status())?.currentRevision).not.toBe(first?.metadata.name);
  });
});

describe('the claims of a member', () => {
  const owners = async () =>
    (await claims()).map(({ metadata }) => metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`) ?? []);

  test('are there before it, have its name, and outlive it', async () => {
    await create({ replicas: 2, volumeClaimTemplates: [DATA] });
    await rolledOut(2);
    expect((await claims()).map(({ metadata }) => [metadata.name, metadata.labels])).toEqual([
      ['data-web-0', { app: 'web' }],
      ['data-web-1', { app: 'web' }],
    ]);
    expect((await member(1)).spec?.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'data-web-1' },
    });
    const created = world.writes.flatMap((write) => /^POST .*\/(pods|persistentvolumeclaims)/.exec(write)?.[1] ?? []);
    expect(created).toEqual(['persistentvolumeclaims', 'pods', 'persistentvolumeclaims', 'pods']);
    const before = (await claims()).map(({ metadata }) => metadata.uid);
    await change({ replicas: 0 });
    await world.until('no member is left', async () => (await world.pods()).length === 0);
    await change({ replicas: 2 });
    await rolledOut(2);
    expect((await claims()).map(({ metadata }) => metadata.uid)).toEqual(before);
  });

  test('are made again if they are lost while it waits for them', async () => {
    await create({ replicas: 1, volumeClaimTemplates: [DATA] });
    await world.settle();
    const [lost] = await claims();
    const body = { metadata: { finalizers: null } };
    await world.client.patch(PersistentVolumeClaim, { ...ref, name: 'data-web-0' }, { type: 'merge', body });
    await world.client.delete(PersistentVolumeClaim, { ...ref, name: 'data-web-0' });
    await world.settle();
    const [found] = await claims();
    expect(found?.metadata.uid).toBeDefined();
    expect(found?.metadata.uid).not.toBe(lost?.metadata.uid);
  });

  test('keep it waiting while they are being deleted, and it says so', async () => {
    const claim = { ...DATA, metadata: { name: 'data-web-0', namespace: 'default', finalizers: ['example.com/hold'] } };
    await world.client.create(PersistentVolumeClaim, claim);
    await world.client.delete(PersistentVolumeClaim, { ...ref, name: 'data-web-0' });
    await create({ replicas: 1, volumeClaimTemplates: [DATA] });
    await world.settle();
    expect(await names()).toEqual([]);
    expect(await notes()).toContain(
      'FailedCreate: Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted',
    );
    expect(await status()).toMatchObject({ replicas: 0, observedGeneration: 1 });
    const body = { metadata: { finalizers: null } };
    await world.client.patch(PersistentVolumeClaim, { ...ref, name: 'data-web-0' }, { type: 'merge', body });
    await rolledOut(1);
  });

  test('go with the set, or with a member that is no longer wanted, if the set says so', async () => {
    const retained = { whenDeleted: 'Delete', whenScaled: 'Delete' };
    await create({ replicas: 2, volumeClaimTemplates: [DATA], persistentVolumeClaimRetentionPolicy: retained });
    await rolledOut(2);
    expect(await owners()).toEqual([['StatefulSet web'], ['StatefulSet web']]);
    await change({ replicas: 1 });
    await world.settle();
    expect(await owners()).toEqual([['StatefulSet web'], ['Pod web-1']]);
    await change({ replicas: 2, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } });
    await world.settle();
    expect(await owners()).toEqual([[], ['Pod web-1']]);
  });

  test('of a member that went for good are not given to its successor', async () => {
    const retained = { whenScaled: 'Delete' };
    await create({ replicas: 2, volumeClaimTemplates: [DATA], persistentVolumeClaimRetentionPolicy: retained });
    await rolledOut(2);
    await change({ replicas: 1 });
    await world.settle();
    await change({ replicas: 2 });
    await ended(1);
    // No garbage collector runs here: the claim of the old member is still there.
    await world.settle(60_000);
    expect(await names()).toEqual(['web-0']);
    const at = { ...ref, name: 'data-web-1' };
    await world.client.patch(PersistentVolumeClaim, at, { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.client.delete(PersistentVolumeClaim, at);
    await rolledOut(2);
  });
});

test('a pod that nobody controls is taken in if it has a member’s name, and let go when it loses its labels', async () => {
  for (const name of ['web-0', 'web-x'])
    await world.client.create(Pod, {
      metadata: { namespace: 'default', name, labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    });
  await create({ replicas: 1 });
  await world.until('it is ready', async () => (await status())?.readyReplicas === 1);
  const owned = async () => (await world.pods()).map(({ metadata }) => metadata.ownerReferences?.[0]?.name);
  expect(await owned()).toEqual(['web', undefined]);
  const labels = { app: null };
  await world.client.patch(Pod, { ...ref, name: 'web-0' }, { type: 'merge', body: { metadata: { labels } } });
  await world.settle();
  expect(await owned()).toEqual([undefined, undefined]);
});

test('a member that the server refuses is told of, and what is known of the others is reported', async () => {
  await create({ replicas: 2, template: template(), minReadySeconds: 0 });
  await world.settle();
  world.server.faults.on({ verb: 'create', plural: 'pods' }, { do: 'fail', when: 'before' });
  await ready(0);
  await world.settle();
  expect(await status()).toMatchObject({ replicas: 1, readyReplicas: 1 });
  expect(await notes()).toContainEqual(
    expect.stringContaining('FailedCreate: Create Pod web-1 in StatefulSet web failed error: '),
  );
});

test('what was done is told in events', async () => {
  await create({ replicas: 1, volumeClaimTemplates: [DATA] });
  await rolledOut(1);
  await change({ replicas: 0 });
  await world.until('it is gone', async () => (await world.pods()).length === 0);
  expect(await notes()).toEqual(
    expect.arrayContaining([
      'SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success',
      'SuccessfulDelete: Delete Pod web-0 in StatefulSet web successful',
    ]),
  );
});

test('a set that is being deleted does nothing more, and still counts its members', async () => {
  await world.client.create(StatefulSet, { ...web({ replicas: 2 }), metadata: { ...ref, finalizers: ['a.b/hold'] } });
  await rolledOut(2);
  await world.client.delete(StatefulSet, ref);
  await world.client.delete(Pod, { ...ref, name: 'web-1' });
  await world.until('it counts one', async () => (await status())?.replicas === 1);
  await world.settle(60_000);
  expect(await names()).toEqual(['web-0']);
});
