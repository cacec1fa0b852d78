import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bucket, merge, type Wishes } from './merge.ts';

const wishes: Wishes = { cluster: 'vectors' };
const BUCKET: Bucket = {
  s3EndpointURL: 'https://s3.example.com',
  s3CredentialsSecretName: 'keys',
  bucketName: 'backups',
};
const specOf = (...args: Parameters<typeof merge>) => {
  const merged = merge(...args);
  if (merged.is !== 'complete') throw new Error(merged.because);
  return merged.spec;
};

describe('a collection', () => {
  test('without a template is as it is wished for, and says nothing else', () => {
    expect(merge({ ...wishes, vectors: { size: 4 } }, undefined, undefined)).toEqual({
      is: 'complete',
      spec: { cluster: 'vectors', vectorSize: 4 },
      warnings: [],
    });
  });

  test('has everything that its template has', () => {
    const template = {
      name: 'small',
      shards: 6,
      replicationFactor: 2,
      onDisk: false,
      vectors: { size: 768, distance: 'Dot' as const },
    };
    expect(specOf(wishes, template, undefined)).toEqual({
      cluster: 'vectors',
      vectorSize: 768,
      distance: 'Dot',
      shardNumber: 6,
      replicationFactor: 2,
      onDisk: false,
    });
  });

  test('has of its template what is not wished for, field by field', () => {
    const template = { name: 'small', replicationFactor: 2, vectors: { size: 768, distance: 'Dot' as const } };
    const own = { ...wishes, vectors: { distance: 'Euclid' as const }, replication: 3 };
    expect(specOf(own, template, undefined)).toMatchObject({
      vectorSize: 768,
      distance: 'Euclid',
      replicationFactor: 3,
    });
  });

  test('is incomplete if nobody says how large its vectors are', () => {
    expect(merge(wishes, { name: 'small' }, undefined)).toEqual({
      is: 'incomplete',
      because: 'vectors.size is required: the template does not have it',
    });
  });

  test.each([
    [{ scalar: { type: 'int8' } }, { scalar: { type: 'int8' } }],
    [{ scalar: {} }, { scalar: { type: 'int8' } }],
    [{ product: { compression: 'x32' } }, { product: { compression: 'x32' } }],
  ] as const)('is quantized as Qdrant says it: %j', (quantization, quantization_config) => {
    const template = { name: 'small', vectors: { size: 4, quantization } };
    expect(specOf(wishes, template, undefined).config).toEqual({ quantization_config });
  });
});

describe('backups', () => {
  const sized = { ...wishes, vectors: { size: 4 } };
  const template = { name: 'small', backup: { enabled: true, schedule: '0 2 * * *', retentionCount: 7 } };
  const snapshotsOf = (own: Wishes['backup'], usual: Bucket | undefined) =>
    specOf(own === undefined ? sized : { ...sized, backup: own }, template, usual).snapshots;

  test('are made as the template says, where they usually go', () => {
    expect(snapshotsOf(undefined, BUCKET)).toEqual({ ...BUCKET, backupSchedule: '0 2 * * *', retentionCount: 7 });
  });

  test('are made as it is wished for, and where', () => {
    const elsewhere = { ...BUCKET, bucketName: 'elsewhere' };
    expect(snapshotsOf({ schedule: '@hourly', bucket: elsewhere }, BUCKET)).toEqual({
      ...elsewhere,
      backupSchedule: '@hourly',
      retentionCount: 7,
    });
  });

  test('can be switched off', () => {
    expect(snapshotsOf({ enabled: false }, BUCKET)).toBeUndefined();
    expect(specOf(sized, { name: 'small', backup: { schedule: '@daily' } }, BUCKET).snapshots).toBeUndefined();
  });

  test('are left out with a warning if nobody knows where they go', () => {
    expect(merge(sized, template, undefined)).toMatchObject({
      spec: expect.not.objectContaining({ snapshots: expect.anything() }),
      warnings: [expect.stringMatching(/no bucket is known/)],
    });
  });

  test('without a schedule are made by hand, and that is said', () => {
    expect(merge({ ...sized, backup: {} }, undefined, BUCKET)).toMatchObject({
      spec: { snapshots: { ...BUCKET, backupSchedule: '' } },
      warnings: [expect.stringMatching(/^backup has no schedule/)],
    });
  });
});

test('what is wished for is never overruled', () => {
  const count = fc.integer({ min: 1, max: 9 });
  const template = fc.record(
    { name: fc.constant('small'), shards: count, replicationFactor: count, vectors: fc.record({ size: count }) },
    { requiredKeys: ['name'] },
  );
  fc.assert(
    fc.property(template, count, count, (given, size, replication) => {
      const spec = specOf({ ...wishes, vectors: { size, distance: 'Dot' }, replication }, given, undefined);
      expect(spec).toMatchObject({ vectorSize: size, distance: 'Dot', replicationFactor: replication });
      expect(spec.shardNumber).toBe(given.shards);
    }),
  );
});
