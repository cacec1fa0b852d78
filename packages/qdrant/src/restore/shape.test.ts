import { describe, expect, test } from 'vitest';
import type { CollectionShape } from '../api/index.ts';
import type { Manifest } from '../archive/index.ts';
import { misfit, nameObjection, vectorsText } from './shape.ts';

const shape = (more: Partial<CollectionShape> = {}): CollectionShape => ({
  vectors: { size: 4, distance: 'Dot', on_disk: true },
  sparseVectors: {},
  shardNumber: 2,
  isCustomSharded: false,
  ...more,
});

const manifest = (config: Manifest['config'] = {}): Manifest => ({
  format: 1,
  id: 'a/b/c',
  cluster: 'a',
  collection: 'b',
  takenAt: '',
  qdrantVersion: '1.19.0',
  config: { vectors: { size: 4, distance: 'Dot' }, ...config },
  shardNumber: 2,
  replicationFactor: 1,
  aliases: [],
  shards: [],
});

describe('a backup fits a collection', () => {
  test('with the same vectors, however they are kept', () => {
    expect(misfit(manifest(), shape(), 'replace')).toBeUndefined();
    const vectors = { size: 4, distance: 'Dot', on_disk: false, hnsw_config: { m: 4 }, datatype: 'float32' };
    expect(misfit(manifest({ vectors }), shape(), 'replace')).toBeUndefined();
    expect(misfit(manifest({ vectors: { '': vectors } }), shape(), 'replace')).toBeUndefined();
  });

  test.each<[string, Manifest['config'], Partial<CollectionShape>, string]>([
    ['size', {}, { vectors: { size: 8, distance: 'Dot' } }, 'its vectors are 8 Dot, and those of the backup 4 Dot'],
    ['distance', {}, { vectors: { size: 4, distance: 'Cosine' } }, 'its vectors are 4 Cosine'],
    ['names', {}, { vectors: { a: { size: 4, distance: 'Dot' } } }, 'its vectors are a: 4 Dot, and those'],
    ['precision', { vectors: { size: 4, distance: 'Dot', datatype: 'float16' } }, {}, '4 Dot float16'],
    [
      'number of vectors for a point',
      {},
      { vectors: { size: 4, distance: 'Dot', multivector_config: { comparator: 'max_sim' } } },
      '4 Dot max_sim',
    ],
    ['sparse vectors', { sparse_vectors: { words: {} } }, {}, '4 Dot, words: sparse'],
    ['way of sharding', { sharding_method: 'custom' }, {}, 'its sharding method is auto'],
    ['number of shards', {}, { shardNumber: 3 }, 'it has 3 shards, and the backup 2'],
  ])('and not with another %s', (_what, config, other, because) => {
    expect(misfit(manifest(config), shape(other), 'replace')).toContain(because);
  });

  test('with any number of shards, if points are only added to it', () => {
    expect(misfit(manifest(), shape({ shardNumber: 3 }), 'merge')).toBeUndefined();
    expect(misfit(manifest(), shape({ vectors: { size: 8, distance: 'Dot' } }), 'merge')).toContain('8 Dot');
  });
});

test('vectors are told in the order of their names', () => {
  const two = { size: 2, distance: 'Dot' };
  expect(vectorsText({ b: two, a: two }, undefined)).toBe(vectorsText({ a: two, b: two }, null));
  expect(vectorsText({}, {})).toBe('none');
});

test('names that would stop a cluster are not sent to it', () => {
  for (const name of ['.', '..', 'a/b', 'a:b', 'a\0b']) expect(nameObjection(name)).toBeDefined();
  for (const name of ['points', 'Points 2.0', 'größe']) expect(nameObjection(name)).toBeUndefined();
});
