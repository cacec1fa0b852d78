import type { Kind, KubernetesObject } from '@polder/kube';
import { beforeEach, expect, test } from 'vitest';
import { apiWorld } from '../../test/api-world.ts';
import { QdrantCollection, QdrantCollectionBackup } from '../kinds/index.ts';

const world = await apiWorld();
beforeEach(async () => {
  await world.reset();
});

const BUCKET = { s3EndpointURL: 'https://s3.example.com', s3CredentialsSecretName: 'bucket', bucketName: 'backups' };
const LAST = { generation: 1, id: 'vectors/products/2026-03-01-11-58', time: '2026-03-01T11:59:30Z' };
const DONE = {
  id: LAST.id,
  status: 'completed',
  createdAt: '2026-03-01T11:58:00Z',
  completedAt: '2026-03-01T11:59:30Z',
  backupId: LAST.id,
};
const CREATED_AT = '2026-03-01T12:00:00Z';

const collection = (snapshots?: object) =>
  world.client.create(QdrantCollection, {
    metadata: { namespace: 'default', name: 'products' },
    spec: { cluster: 'vectors', vectorSize: 4, ...(snapshots && { snapshots: { ...BUCKET, ...snapshots } }) },
  });
const backup = (name: string, snapshots: object = {}, cluster = 'vectors') =>
  world.client.create(QdrantCollectionBackup, {
    metadata: { namespace: 'default', name },
    spec: { cluster, collectionName: 'products', snapshots: { ...BUCKET, ...snapshots } },
  });
const report = <T extends KubernetesObject>(kind: Kind<T>, name: string, status: object) =>
  world.client.patch(
    kind,
    { namespace: 'default', name },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
/** The one that is under way. */
const current = {
  id: 'vectors/products/2026-03-01-12-00',
  generation: 2,
  trigger: 'Now',
  startedAt: '2026-03-01T12:00:05Z',
};
const backups = async () => (await world.call('GET', '/api/v1/backups/collections/products')).body;

test('a collection that is not there has no backups, not even none', async () => {
  expect(await world.call('GET', '/api/v1/backups/collections/products')).toMatchObject({
    status: 404,
    body: { error: 'Collection not found', name: 'products' },
  });
});

test('a collection without backups has none', async () => {
  await collection();
  expect(await backups()).toEqual({ items: [], count: 0 });
});

test('a collection with a bucket tells its schedule and its last backup', async () => {
  await collection({ backupSchedule: '0 2 * * *' });
  const configured = {
    id: 'products',
    type: 'scheduled',
    status: 'configured',
    createdAt: CREATED_AT,
    completedAt: null,
    schedule: '0 2 * * *',
  };
  expect(await backups()).toEqual({ items: [configured], count: 1 });
  await report(QdrantCollection, 'products', { lastBackup: LAST });
  expect(await backups()).toEqual({ items: [configured, { ...DONE, type: 'scheduled' }], count: 2 });
});

test('what the QdrantCollectionBackup of a collection knows is told once', async () => {
  await collection({ backupSchedule: '0 2 * * *' });
  await report(QdrantCollection, 'products', { lastBackup: LAST });
  await backup('products', { backupSchedule: '0 2 * * *' });
  await report(QdrantCollectionBackup, 'products', { phase: 'InProgress', lastBackup: LAST, current });
  const begun = { id: current.id, type: 'manual', status: 'in-progress', createdAt: current.startedAt };
  expect(await backups()).toEqual({
    items: [
      { ...begun, completedAt: null, schedule: '0 2 * * *' },
      { ...DONE, type: 'scheduled' },
    ],
    count: 2,
  });
});

test.each<[string, object, object]>([
  ['waits for its time', { phase: 'Idle' }, { id: 'by-hand', status: 'configured' }],
  ['makes one', { phase: 'InProgress', current }, { id: current.id, status: 'in-progress' }],
  ['is held back', { phase: 'Waiting', current }, { id: current.id, status: 'in-progress' }],
  ['failed at one', { phase: 'Failed', current }, { id: current.id, status: 'failed' }],
  ['can not begin', { phase: 'Failed' }, { id: 'by-hand', status: 'failed' }],
])('a QdrantCollectionBackup that %s is told as such', async (_, status, item) => {
  await backup('by-hand', { backupNow: true });
  await report(QdrantCollectionBackup, 'by-hand', status);
  expect(await backups()).toMatchObject({ items: [{ ...item, type: 'manual' }] });
});

test('backups of a collection of the same name in another cluster are not its own', async () => {
  await collection();
  await backup('elsewhere', {}, 'another');
  expect(await backups()).toMatchObject({ count: 0 });
});

test('the newest comes first', async () => {
  await backup('first');
  await world.clock.advance(60_000);
  await backup('second');
  await report(QdrantCollectionBackup, 'second', { lastBackup: LAST });
  expect(await backups()).toMatchObject({ items: [{ id: 'second' }, { id: 'first' }, { id: LAST.id }] });
});
