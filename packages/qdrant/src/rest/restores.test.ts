import { beforeEach, describe, expect, test } from 'vitest';
import { apiWorld } from '../../test/api-world.ts';
import { QdrantCollection, QdrantCollectionRestore } from '../kinds/index.ts';

const world = await apiWorld();
beforeEach(async () => {
  await world.reset();
  await collection('products');
});

const PATH = '/api/v1/restore/collections/products';
const BACKUP = 'vectors/products/2026-02-28-02-00';
const collection = (name: string) =>
  world.client.create(QdrantCollection, {
    metadata: { namespace: 'default', name },
    spec: { cluster: 'vectors', vectorSize: 4 },
  });

describe('POST /api/v1/restore/collections/{name}', () => {
  test('makes a QdrantCollectionRestore for the cluster of the collection', async () => {
    const id = `products-restore-${world.clock.now()}`;
    expect(await world.call('POST', PATH, { backupId: BACKUP })).toMatchObject({
      status: 201,
      body: { id, collection: 'products', backupId: BACKUP, status: 'Pending', message: 'Restore operation initiated' },
    });
    const { metadata, spec } = await world.client.get(QdrantCollectionRestore, { namespace: 'default', name: id });
    expect(metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'qdrant-operator-api',
      'qdrant.operator/collection': 'products',
    });
    expect(spec).toEqual({
      collection: 'products',
      cluster: 'vectors',
      backupId: BACKUP,
      mode: 'replace',
      pauseWrites: true,
    });
  });

  test('passes on how it is to be done', async () => {
    await world.call('POST', PATH, { backupId: BACKUP, mode: 'merge', pauseWrites: false });
    const { items } = await world.client.list(QdrantCollectionRestore);
    expect(items[0]?.spec).toMatchObject({ mode: 'merge', pauseWrites: false });
  });

  test('that arrives twice is done once', async () => {
    const answers = await Promise.all([1, 2].map(() => world.call('POST', PATH, { backupId: BACKUP })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });

  test('of a collection whose name is too long for a label goes without the label', async () => {
    const name = 'x'.repeat(100);
    await collection(name);
    expect((await world.call('POST', `/api/v1/restore/collections/${name}`, { backupId: BACKUP })).status).toBe(201);
  });

  test.each([{}, { backupId: '' }, { backupId: null }])('is refused without a backup: %j', async (body) => {
    const answer = await world.call('POST', PATH, body);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: { error: 'backupId is required' },
    });
  });

  test('is refused with everything that is wrong', async () => {
    expect(await world.call('POST', PATH, { backupId: 7, mode: 'undo', pauseWrites: 'no' })).toMatchObject({
      status: 400,
      body: {
        error: 'Validation failed',
        details: [
          'backupId must be a string',
          'mode must be one of: replace, merge',
          'pauseWrites must be true or false',
        ],
      },
    });
  });

  test('is refused for a collection that is not there', async () => {
    expect(await world.call('POST', '/api/v1/restore/collections/nothing', { backupId: BACKUP })).toMatchObject({
      status: 404,
      body: { error: 'Collection not found', name: 'nothing' },
    });
  });
});

describe('GET /api/v1/restore/collections/{name}', () => {
  test('tells how those of the collection fare, the newest first', async () => {
    await collection('others');
    await world.call('POST', '/api/v1/restore/collections/others', { backupId: BACKUP });
    await world.call('POST', PATH, { backupId: BACKUP });
    await world.clock.advance(5_000);
    await world.call('POST', PATH, { backupId: BACKUP, mode: 'merge' });
    const now = world.clock.now();
    const [first, second] = [now - 5_000, now].map((at) => `products-restore-${at}`);
    const status = {
      phase: 'Failed',
      message: 'Restore failed',
      startedAt: '2026-03-01T12:00:01Z',
      completedAt: '2026-03-01T12:00:02Z',
      error: 'no such backup',
      conditions: [],
    };
    const ref = { namespace: 'default', name: first ?? '' };
    await world.client.patch(
      QdrantCollectionRestore,
      ref,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    const item = { collection: 'products', backupId: BACKUP };
    expect((await world.call('GET', PATH)).body).toEqual({
      items: [
        {
          ...item,
          id: second,
          mode: 'merge',
          status: 'Pending',
          message: null,
          startedAt: null,
          completedAt: null,
          error: null,
        },
        {
          ...item,
          id: first,
          mode: 'replace',
          status: 'Failed',
          message: 'Restore failed',
          startedAt: '2026-03-01T12:00:01Z',
          completedAt: '2026-03-01T12:00:02Z',
          error: 'no such backup',
        },
      ],
      count: 2,
    });
  });

  test('knows of none where there are none', async () => {
    expect(await world.call('GET', '/api/v1/restore/collections/nothing')).toMatchObject({
      status: 200,
      body: { items: [], count: 0 },
    });
  });
});
