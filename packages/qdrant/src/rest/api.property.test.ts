import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiWorld, TOKEN } from '../../test/api-world.ts';
import { QdrantCollection, QdrantCollectionTemplate } from '../kinds/index.ts';

const world = await apiWorld();
await world.client.create(QdrantCollection, {
  metadata: { namespace: 'default', name: 'products' },
  spec: { cluster: 'vectors', vectorSize: 4 },
});
await world.client.create(QdrantCollectionTemplate, {
  metadata: { name: 'small' },
  spec: { name: 'small', vectors: { size: 4 }, backup: { enabled: true, schedule: '@daily' } },
});

const anything = fc.jsonValue({ maxDepth: 3 });
/** Mostly what is right, so that most requests get far enough to be wrong elsewhere. */
const mostly = (...right: readonly unknown[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: anything });
const fields = (right: Readonly<Record<string, readonly unknown[]>>) =>
  fc.record(Object.fromEntries(Object.entries(right).map(([name, values]) => [name, mostly(...values)])), {
    requiredKeys: [],
  });

const name = fc.oneof(
  fc.stringMatching(/^[a-z0-9-]{1,8}$/),
  fc.constantFrom('products', 'small', 'none', '-', 'x'.repeat(300), '__proto__'),
  fc.string({ unit: 'binary' }),
);
const backup = fields({
  enabled: [true, false],
  schedule: ['0 2 * * *', '@daily', ''],
  retentionCount: [1, 7],
  s3EndpointURL: ['https://s3.example.com'],
  s3CredentialsSecretName: ['bucket'],
  bucketName: ['backups'],
});
const vectors = fc.tuple(
  fields({ size: [1, 4, 65_536, Number.MAX_SAFE_INTEGER], distance: ['Cosine', 'Dot'] }),
  fields({ quantization: [{ scalar: { type: 'int8' } }, { product: { compression: 'x4' } }, {}] }),
);
const collection = fc
  .record(
    { name, cluster: fc.oneof(name, anything), vectors, replication: mostly(1, 2), template: mostly('small'), backup },
    { requiredKeys: ['name', 'cluster'] },
  )
  .map(({ vectors: given, ...rest }) => ({ ...rest, ...(given && { vectors: { ...given[0], ...given[1] } }) }));
const template = fc
  .record(
    { name, shards: mostly(1, 6), replicationFactor: mostly(2), onDisk: mostly(true), vectors, backup },
    { requiredKeys: ['name'] },
  )
  .map(({ vectors: given, ...rest }) => ({ ...rest, ...(given && { vectors: { ...given[0], ...given[1] } }) }));
const restore = fields({ backupId: ['vectors/products/2026-02-28-02-00'], mode: ['merge'], pauseWrites: [false] });
const body = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: anything });

describe('whatever is sent, the answer is JSON, and says what is wrong if something is', () => {
  test.each([
    ['/api/v1/collections', body(collection)],
    ['/api/v1/templates', body(template)],
    ['/api/v1/restore/collections/products', body(restore)],
  ] as const)('%s', async (path, bodies) => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(bodies, async (sent) => {
        await world.clock.advance(1);
        const { status, body: told } = await world.call('POST', path, JSON.stringify(sent), {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
        });
        seen.add(status);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
        expect(told).toEqual(
          status === 201
            ? expect.objectContaining({ id: expect.any(String) })
            : expect.objectContaining({ error: expect.any(String) }),
        );
      }),
      { numRuns: 400 },
    );
    // Otherwise nothing was shown.
    expect([...seen]).toEqual(expect.arrayContaining([201, 400]));
  });

  test('of bytes that are no JSON, of paths and of namespaces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
        fc.constantFrom('collections', 'backups/collections', 'restore/collections', 'templates', 'x', ''),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        async (method, at, last, namespace) => {
          const [part, query] = [last, namespace].map((text) => encodeURIComponent(text.toWellFormed()));
          const sent = method === 'POST' ? last : undefined;
          const { status, body: told } = await world.call(method, `/api/v1/${at}/${part}?namespace=${query}`, sent);
          expect(status).toBeLessThan(500);
          expect(told).toBeTypeOf('object');
        },
      ),
      { numRuns: 300 },
    );
  });
});
