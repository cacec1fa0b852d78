import { beforeEach, describe, expect, test } from 'vitest';
import { apiWorld } from '../../test/api-world.ts';
import { QdrantCollection, QdrantCollectionBackup, QdrantCollectionTemplate } from '../kinds/index.ts';

const world = await apiWorld();
beforeEach(async () => {
  await world.reset();
});

const products = { namespace: 'default', name: 'products' };
const aCollection = { name: 'products', cluster: 'vectors', vectors: { size: 4 } };
const create = (body: object = aCollection) => world.call('POST', '/api/v1/collections', body);
const stored = () => world.client.get(QdrantCollection, products);
const template = (spec: object) =>
  world.client.create(QdrantCollectionTemplate, { metadata: { name: 'small' }, spec: { name: 'small', ...spec } });
const BUCKET = { s3EndpointURL: 'https://s3.example.com', s3CredentialsSecretName: 'bucket', bucketName: 'backups' };

describe('POST /api/v1/collections', () => {
  test('makes a QdrantCollection, and says that it is on its way', async () => {
    const answer = await create({ ...aCollection, vectors: { size: 4, distance: 'Dot' }, replication: 2 });
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body).toEqual({
      id: 'products',
      name: 'products',
      namespace: 'default',
      status: 'Pending',
      message: 'Collection creation initiated',
    });
    const { metadata, spec } = await stored();
    expect(metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'qdrant-operator-api',
      'qdrant.operator/template': 'none',
    });
    expect(spec).toMatchObject({ cluster: 'vectors', vectorSize: 4, distance: 'Dot', replicationFactor: 2 });
    expect(spec.snapshots).toBeUndefined();
  });

  test('of one name at the same time makes one: the others are told that it is there', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 201).map(({ status, body }) => ({ status, body }));
    const taken = { status: 409, body: { error: 'Collection already exists', name: 'products' } };
    expect(others).toEqual(Array.from({ length: 4 }, () => taken));
  });

  test('with a template takes from it what is left out, and notes which one it was', async () => {
    await template({
      shards: 6,
      replicationFactor: 2,
      onDisk: false,
      vectors: { size: 768, distance: 'Euclid', quantization: { product: { compression: 'x16' } } },
    });
    expect(await create({ name: 'products', cluster: 'vectors', template: 'small', replication: 3 })).toMatchObject({
      status: 201,
    });
    const { metadata, spec } = await stored();
    expect(metadata.labels).toMatchObject({ 'qdrant.operator/template': 'small' });
    expect(spec).toMatchObject({
      vectorSize: 768,
      distance: 'Euclid',
      shardNumber: 6,
      replicationFactor: 3,
      onDisk: false,
      config: { quantization_config: { product: { compression: 'x16' } } },
    });
  });

  test.each(['missing', '../small', 'Small', 'x'.repeat(300)])('with no such template is refused: %s', async (name) => {
    expect(await create({ ...aCollection, template: name })).toMatchObject({
      status: 404,
      body: { error: 'Template not found', template: name },
    });
  });

  test('with a template that nothing can be made from says what is wrong with it', async () => {
    await template({
      vectors: { size: 4, quantization: { scalar: { type: 'int8' }, product: { compression: 'x4' } } },
    });
    expect(await create({ ...aCollection, template: 'small' })).toMatchObject({
      status: 400,
      body: {
        details: ['template small: its vectors.quantization has scalar and product; Qdrant takes one of them'],
      },
    });
  });

  test('with a template that does not say how large vectors are needs to say it', async () => {
    await template({});
    expect(await create({ name: 'products', cluster: 'vectors', template: 'small' })).toMatchObject({
      status: 400,
      body: { details: ['vectors.size is required: the template does not have it'] },
    });
    expect(await create({ ...aCollection, template: 'small' })).toMatchObject({ status: 201 });
  });

  describe('with backups', () => {
    const backup = { enabled: true, schedule: '0 2 * * *', retentionCount: 7 };
    const snapshots = { ...BUCKET, backupSchedule: '0 2 * * *', retentionCount: 7 };

    test('has them where it says', async () => {
      const answer = await create({ ...aCollection, backup: { ...backup, ...BUCKET } });
      expect(answer.body).not.toHaveProperty('warnings');
      expect((await stored()).spec.snapshots).toMatchObject(snapshots);
    });

    test('has them where all backups of the cluster go, if it does not say', async () => {
      const spec = { cluster: 'vectors', collectionName: 'other', snapshots: { ...BUCKET, backupSchedule: '@daily' } };
      await world.client.create(QdrantCollectionBackup, { metadata: { ...products, name: 'other' }, spec });
      const elsewhere = { cluster: 'another', vectorSize: 1, snapshots: { ...BUCKET, bucketName: 'elsewhere' } };
      await world.client.create(QdrantCollection, { metadata: { ...products, name: 'elsewhere' }, spec: elsewhere });
      const answer = await create({ ...aCollection, backup });
      expect(answer.body).not.toHaveProperty('warnings');
      expect((await stored()).spec.snapshots).toMatchObject(snapshots);
    });

    test('goes without them, and says so, if nobody knows where to', async () => {
      const answer = await create({ ...aCollection, backup });
      expect(answer).toMatchObject({
        status: 201,
        body: { warnings: [expect.stringMatching(/^backup is left out, because no bucket is known: give backup\.s3/)] },
      });
      expect((await stored()).spec.snapshots).toBeUndefined();
    });

    test('does not guess between two buckets', async () => {
      for (const bucketName of ['one', 'two']) {
        const spec = { cluster: 'vectors', vectorSize: 1, snapshots: { ...BUCKET, bucketName } };
        await world.client.create(QdrantCollection, { metadata: { ...products, name: bucketName }, spec });
      }
      expect((await create({ ...aCollection, backup })).body).toHaveProperty('warnings');
    });

    test('of a template has the schedule of the template', async () => {
      await template({ vectors: { size: 4 }, backup });
      await create({ ...aCollection, template: 'small', backup: BUCKET });
      expect((await stored()).spec.snapshots).toMatchObject(snapshots);
    });
  });
});

describe('a request for a collection is refused with everything that is wrong', () => {
  test.each<[object, readonly string[]]>([
    [{}, ['name is required', 'cluster is required', 'vectors.size is required when template is not provided']],
    [{ ...aCollection, name: 'Products' }, ['name must contain only lowercase letters, numbers, and hyphens']],
    [{ ...aCollection, name: 7 }, ['name must be a string']],
    [{ ...aCollection, cluster: ['vectors'] }, ['cluster must be a string']],
    [{ ...aCollection, template: {} }, ['template must be a string']],
    [
      { ...aCollection, vectors: 4 },
      ['vectors must be an object', 'vectors.size is required when template is not provided'],
    ],
    [{ ...aCollection, vectors: { size: 0 } }, ['vectors.size must be at least 1']],
    [{ ...aCollection, vectors: { size: 1.5 } }, ['vectors.size must be at least 1']],
    [{ ...aCollection, vectors: { size: '4' } }, ['vectors.size must be at least 1']],
    [
      { ...aCollection, vectors: { size: 4, distance: 'cosine' } },
      ['vectors.distance must be one of: Cosine, Euclid, Dot'],
    ],
    [{ ...aCollection, replication: 0 }, ['replication must be a positive integer']],
    [{ ...aCollection, replication: 1e300 }, ['replication must be a positive integer']],
    [{ ...aCollection, backup: [] }, ['backup must be an object']],
    [
      { ...aCollection, backup: { enabled: 'yes', schedule: 'daily', retentionCount: -1 } },
      [
        'backup.schedule must be a valid cron expression: expected exactly 5 fields, found 1: [daily]',
        'backup.enabled must be true or false',
        'backup.retentionCount must be a positive integer',
      ],
    ],
    [
      { ...aCollection, backup: { bucketName: 'backups' } },
      ['backup.s3EndpointURL is required', 'backup.s3CredentialsSecretName is required'],
    ],
  ])('%j', async (body, details) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { error: 'Validation failed', details } });
  });
});

describe('GET /api/v1/collections', () => {
  test('lists those of the namespace, more than a page of them', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `c${index}`);
    for (const name of names) {
      await world.client.create(QdrantCollection, {
        metadata: { ...products, name },
        spec: { cluster: 'v', vectorSize: 1 },
      });
    }
    expect((await world.call('GET', '/api/v1/collections')).body).toMatchObject({ count: 501 });
  });

  test('tells what each of them is', async () => {
    await create({ ...aCollection, replication: 2, backup: BUCKET });
    const item = {
      id: 'products',
      name: 'products',
      namespace: 'default',
      cluster: 'vectors',
      status: 'Unknown',
      shards: 1,
      replicas: 2,
      vectorSize: 4,
      backup: 'enabled',
    };
    expect(await world.call('GET', '/api/v1/collections')).toMatchObject({
      status: 200,
      body: { items: [item], count: 1 },
    });
    const status = { qdrantStatus: 'Healthy', conditions: [] };
    await world.client.patch(
      QdrantCollection,
      products,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    expect((await world.call('GET', '/api/v1/collections/products')).body).toEqual({
      ...item,
      status: 'Healthy',
      onDisk: true,
      createdAt: '2026-03-01T12:00:00Z',
    });
  });
});

test('GET and DELETE of a collection that is not there say so', async () => {
  const missing = { status: 404, body: { error: 'Collection not found', name: 'nothing' } };
  expect(await world.call('GET', '/api/v1/collections/nothing')).toMatchObject(missing);
  expect(await world.call('DELETE', '/api/v1/collections/nothing')).toMatchObject(missing);
});

describe('DELETE /api/v1/collections/{name}', () => {
  test('deletes the QdrantCollection', async () => {
    await create();
    expect(await world.call('DELETE', '/api/v1/collections/products')).toMatchObject({
      status: 200,
      body: { id: 'products', name: 'products', status: 'Deleting', message: 'Collection deletion initiated' },
    });
    expect((await world.call('GET', '/api/v1/collections/products')).status).toBe(404);
  });

  test('of one that is still to be cleaned up leaves it there as what it is', async () => {
    await create();
    const body = { metadata: { finalizers: ['qdrant.operator/finalizer'] } };
    await world.client.patch(QdrantCollection, products, { type: 'merge', body });
    await world.call('DELETE', '/api/v1/collections/products');
    expect((await world.call('GET', '/api/v1/collections/products')).body).toMatchObject({ status: 'Deleting' });
    await world.client.patch(QdrantCollection, products, { type: 'merge', body: { metadata: { finalizers: [] } } });
  });
});
