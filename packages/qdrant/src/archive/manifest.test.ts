import { expect, test } from 'vitest';
import { type Manifest, manifestOf } from './manifest.ts';

const manifest: Manifest = {
  format: 1,
  id: 'vectors/points/2024-01-21-23-38',
  cluster: 'vectors',
  namespace: 'default',
  collection: 'points',
  takenAt: '2024-01-21T23:38:00Z',
  qdrantVersion: '1.19.0',
  config: { vectors: { size: 4 } },
  shardNumber: 1,
  replicationFactor: 1,
  aliases: ['all'],
  shards: [{ id: 0, key: 'a', file: 'shard-0.snapshot', bytes: 7, sha256: 'ab'.repeat(32) }],
};
const [shard] = manifest.shards;

const read = (value: unknown) => manifestOf(JSON.stringify(value));

test('a manifest is read as it was written, with what a later program adds to it', () => {
  const { namespace: _, ...without } = manifest;
  for (const one of [manifest, without, { ...manifest, compression: 'none' }]) expect(read(one)).toEqual(one);
});

test.each<[string, unknown]>([
  ['nothing', null],
  ['a list', [manifest]],
  ['a later format', { ...manifest, format: 2 }],
  ['no id', { ...manifest, id: undefined }],
  ['a namespace that is no text', { ...manifest, namespace: 1 }],
  ['a list for a configuration', { ...manifest, config: [] }],
  ['a part of a shard', { ...manifest, shardNumber: 0.5 }],
  ['no replica', { ...manifest, replicationFactor: 0 }],
  ['an alias that is no text', { ...manifest, aliases: [1] }],
  ['no list of shards', { ...manifest, shards: {} }],
  ['a shard without its file', { ...manifest, shards: [{ ...shard, file: undefined }] }],
  ['a shard of a broken key', { ...manifest, shards: [{ ...shard, key: 0.5 }] }],
  ['a shard of less than nothing', { ...manifest, shards: [{ ...shard, bytes: -1 }] }],
  ['a sum of another kind', { ...manifest, shards: [{ ...shard, sha256: 'AB'.repeat(32) }] }],
])('what has %s is no manifest', (_, value) => {
  expect(read(value)).toBeUndefined();
});

test('what is no JSON is no manifest', () => {
  expect(manifestOf('{')).toBeUndefined();
});
