import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/index.ts';
import type { CollectionSpec } from '../../kinds/index.ts';
import { driftOf } from './drift.ts';
import { creationOf } from './wanted.ts';

const aSpec = (more: Partial<CollectionSpec> = {}): CollectionSpec => ({ cluster: 'vectors', vectorSize: 4, ...more });

/** As a server tells of a collection that was created from `aSpec()`. */
const there = (params: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  params: {
    vectors: { size: 4, distance: 'Cosine', on_disk: true },
    shard_number: 1,
    replication_factor: 1,
    write_consistency_factor: 1,
    on_disk_payload: true,
    ...params,
  },
  hnsw_config: { m: 16, ef_construct: 100 },
  optimizer_config: { deleted_threshold: 0.2, indexing_threshold: 10_000 },
  wal_config: { wal_capacity_mb: 32 },
  quantization_config: null,
  ...more,
});

test('a distance in the config does not take the size away', () => {
  expect(creationOf(aSpec({ config: { vectors: { distance: 'Dot' } } }))['vectors']).toEqual({
    size: 4,
    distance: 'Dot',
    on_disk: true,
  });
});

test('vectors with names get what the spec says of all of them', () => {
  const config = { vectors: { image: { size: 512 }, text: { distance: 'Dot', memory: 'cold' } } };
  expect(creationOf(aSpec({ config }))['vectors']).toEqual({
    image: { size: 512, distance: 'Cosine', on_disk: true },
    text: { size: 4, distance: 'Dot', memory: 'cold' },
  });
});

test('shards and copies are always said, and the optimizers by the name that the server takes', () => {
  const body = creationOf(aSpec({ shardKeys: ['a'], config: { optimizer_config: { indexing_threshold: 0 } } }));
  expect(body).toMatchObject({ shard_number: 1, replication_factor: 1, sharding_method: 'custom' });
  expect(body).toMatchObject({ optimizers_config: { indexing_threshold: 0 } });
  expect(body).not.toHaveProperty('optimizer_config');
});

test.each<[string, Partial<CollectionSpec>, JsonObject]>([
  ['the factor, where the server looks for it', { replicationFactor: 2 }, { params: { replication_factor: 2 } }],
  ['where vectors are, by the empty name', { onDisk: false }, { vectors: { '': { on_disk: false } } }],
  [
    'optimizers, of which only one differs',
    { config: { optimizers_config: { deleted_threshold: 0.5, indexing_threshold: 10_000 } } },
    { optimizers_config: { deleted_threshold: 0.5 } },
  ],
  [
    '`memory`, and not `on_disk` beside it',
    { config: { vectors: { memory: 'cold', on_disk: false } } },
    { vectors: { '': { memory: 'cold' } } },
  ],
  [
    '`memory` of the index, in the same way',
    { config: { hnsw_config: { memory: 'cold', on_disk: true } } },
    { hnsw_config: { memory: 'cold' } },
  ],
  [
    'everything at once',
    { replicationFactor: 3, config: { hnsw_config: { m: 8 } } },
    { params: { replication_factor: 3 }, hnsw_config: { m: 8 } },
  ],
])('a patch names the difference alone: %s', (_what, more, patch) => {
  expect(driftOf(aSpec(more), there())).toEqual({ patch, missing: [], immutable: [] });
});

test('quantization is disabled by that word', () => {
  const quantized = there({}, { quantization_config: { scalar: { type: 'int8' } } });
  expect(driftOf(aSpec({ config: { quantization_config: 'Disabled' } }), quantized).patch).toEqual({
    quantization_config: 'Disabled',
  });
  expect(driftOf(aSpec({ config: { quantization_config: 'Disabled' } }), there()).patch).toBeUndefined();
});

test('fractions that the server keeps in fewer digits are the same', () => {
  const config = { optimizers_config: { deleted_threshold: 0.1 + 0.2 } };
  const told = there({}, { optimizer_config: { deleted_threshold: Math.fround(0.3) } });
  expect(driftOf(aSpec({ config }), told).patch).toBeUndefined();
});

test.each<[string, Partial<CollectionSpec>, string, unknown, unknown]>([
  ['the size', { vectorSize: 8 }, 'vectors.size', 4, 8],
  ['the distance', { distance: 'Dot' }, 'vectors.distance', 'Cosine', 'Dot'],
  ['the shards', { shardNumber: 2 }, 'shard_number', 1, 2],
  ['who decides where points go', { shardKeys: ['a'] }, 'sharding_method', 'auto', 'custom'],
  ['the log', { config: { wal_config: { wal_capacity_mb: 1 } } }, 'wal_config.wal_capacity_mb', 32, 1],
  ['a vector that is not there', { config: { sparse_vectors: { words: {} } } }, 'sparse_vectors.words', null, {}],
])('what can not be changed is told, and never sent: %s', (_what, more, field, now, wanted) => {
  const immutable = [{ field, there: now, wanted }];
  expect(driftOf(aSpec(more), there())).toEqual({ patch: undefined, missing: [], immutable });
});

describe('a vector that is not there', () => {
  const named = there({ vectors: { image: { size: 4, distance: 'Cosine' } } });
  const spec = aSpec({
    config: {
      vectors: { image: {}, text: { size: 8, on_disk: true, datatype: 'float16', hnsw_config: { m: 8 } } },
      sparse_vectors: { words: { modifier: 'idf', index: { on_disk: true, datatype: 'uint8' } } },
    },
  });

  test('is added with what it has for good, where the server can', () => {
    expect(driftOf(spec, named, true)).toEqual({
      patch: undefined,
      missing: [
        { name: 'text', kind: 'dense', config: { size: 8, distance: 'Cosine', datatype: 'float16' } },
        { name: 'words', kind: 'sparse', config: { modifier: 'idf', datatype: 'uint8' } },
      ],
      immutable: [],
    });
    expect(driftOf(spec, named).immutable.map(({ field }) => field)).toEqual(['vectors.text', 'sparse_vectors.words']);
  });

  test('is not added to a collection that has none of the others, or one without a name', () => {
    const other = there({ vectors: { sound: { size: 4, distance: 'Cosine' } } });
    expect(driftOf(spec, other, true)).toMatchObject({ missing: [], immutable: [{}, {}, {}] });
    expect(driftOf(spec, there(), true)).toMatchObject({ missing: [], immutable: [{}, {}, {}] });
  });
});
