import { beforeEach, describe, expect, test } from 'vitest';
import { apiWorld } from '../../test/api-world.ts';
import { QdrantCollectionTemplate } from '../kinds/index.ts';

const world = await apiWorld();
beforeEach(async () => {
  await world.reset();
});

const create = (body: object) => world.call('POST', '/api/v1/templates', body);
const full = {
  name: 'small',
  shards: 6,
  replicationFactor: 2,
  onDisk: false,
  vectors: { size: 768, distance: 'Cosine', quantization: { scalar: { type: 'int8' } } },
  backup: { enabled: true, schedule: '0 2 * * *', retentionCount: 3 },
};

describe('POST /api/v1/templates', () => {
  test('makes a QdrantCollectionTemplate of what was sent', async () => {
    expect(await create(full)).toMatchObject({
      status: 201,
      body: { id: 'small', name: 'small', message: 'Template created successfully' },
    });
    const { metadata, spec } = await world.client.get(QdrantCollectionTemplate, { name: 'small' });
    expect(metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'qdrant-operator-api' });
    expect(spec).toEqual(full);
  });

  test('needs no more than a name', async () => {
    expect(await create({ name: 'small' })).toMatchObject({ status: 201 });
    expect((await world.call('GET', '/api/v1/templates/small')).body).toEqual({
      id: 'small',
      name: 'small',
      shards: 1,
      replicationFactor: 1,
      onDisk: true,
      vectors: null,
      backup: null,
      usageCount: 0,
      lastUsed: null,
    });
  });

  test('of one name at the same time makes one', async () => {
    const answers = await Promise.all([create(full), create(full)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      error: 'Template already exists',
      name: 'small',
    });
  });

  test.each<[object, string]>([
    [{}, 'name is required'],
    [{ shards: 1 }, 'name is required'],
    [{ name: 'INVALID_NAME' }, 'name must contain only lowercase letters, numbers, and hyphens'],
    [{ name: 'none' }, 'name must not be none: it stands for collections without a template'],
    [{ name: 'x'.repeat(64) }, 'name must have at most 63 characters: it is put into a label'],
  ])('is refused for its name: %j', async (body, error) => {
    const answer = await create(body);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body: { error } });
  });

  test.each<[object, string]>([
    [{ shards: 0 }, 'shards must be a positive integer'],
    [{ replicationFactor: 'two' }, 'replicationFactor must be a positive integer'],
    [{ onDisk: 1 }, 'onDisk must be true or false'],
    [{ vectors: { size: -1 } }, 'vectors.size must be at least 1'],
    [{ vectors: { distance: 'Manhattan' } }, 'vectors.distance must be one of: Cosine, Euclid, Dot'],
    [{ vectors: { quantization: { product: {} } } }, 'vectors.quantization.product.compression is required'],
    [
      { vectors: { quantization: { product: { compression: 'x3' } } } },
      'vectors.quantization.product.compression must be one of: x4, x8, x16, x32, x64',
    ],
    [
      { vectors: { quantization: { scalar: {}, product: { compression: 'x4' } } } },
      'vectors.quantization has scalar and product; Qdrant takes one of them',
    ],
    [
      { backup: { schedule: '* *' } },
      'backup.schedule must be a valid cron expression: expected exactly 5 fields, found 2: [* *]',
    ],
  ])('is refused: %j', async (fields, detail) => {
    expect(await create({ name: 'small', ...fields })).toMatchObject({
      status: 400,
      body: { error: 'Validation failed', details: [detail] },
    });
  });
});

describe('GET /api/v1/templates', () => {
  test('lists them with how often they were used', async () => {
    await create(full);
    const status = { usageCount: 2, lastUsed: '2026-03-01T12:00:00Z', conditions: [] };
    const ref = { name: 'small' };
    await world.client.patch(
      QdrantCollectionTemplate,
      ref,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    const item = { id: 'small', ...full, usageCount: 2, lastUsed: '2026-03-01T12:00:00Z' };
    expect((await world.call('GET', '/api/v1/templates')).body).toEqual({ items: [item], count: 1 });
    expect((await world.call('GET', '/api/v1/templates/small?namespace=default')).body).toEqual(item);
  });

  test('finds one by the name of its object, whatever its spec calls it', async () => {
    await world.client.create(QdrantCollectionTemplate, { metadata: { name: 'small' }, spec: { name: 'tiny' } });
    expect((await world.call('GET', '/api/v1/templates/small')).body).toMatchObject({ id: 'small', name: 'tiny' });
    expect(await world.call('GET', '/api/v1/templates/tiny')).toMatchObject({
      status: 404,
      body: { error: 'Template not found', name: 'tiny' },
    });
  });
});
