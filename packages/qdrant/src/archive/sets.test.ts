import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shardFile } from './layout.ts';
import { completeSet, keysOf, setsIn } from './sets.ts';

const name = { cluster: 'vectors', collection: 'points' };
const file = (key: string, bytes = 1) => ({ key, bytes });

test('files of one minute belong together; what has anything else in it is not ours', () => {
  const found = setsIn(name, [
    file('vectors/points/2026-02-01-00-00/shard-0.snapshot', 5),
    file('vectors/points/2026-01-01-00-00/manifest.json'),
    file('vectors/points/2026-01-01-00-00/shard-10.snapshot', 7),
    file('vectors/points/2024-01-21-23-38/vectors-0.snapshot'),
    file('vectors/points/2025-01-01-00-00/shard-0.snapshot'),
    file('vectors/points/2025-01-01-00-00/deeper/shard-0.snapshot'),
    file('vectors/points/2026-13-41-00-00/shard-0.snapshot'),
    file('vectors/points/shard-0.snapshot'),
    file('other/points/2026-01-01-00-00/shard-0.snapshot'),
  ]);
  expect(found).toEqual([
    {
      id: 'vectors/points/2026-01-01-00-00',
      begunAt: Date.UTC(2026, 0, 1),
      hasManifest: true,
      shards: new Map([[10, 7]]),
    },
    {
      id: 'vectors/points/2026-02-01-00-00',
      begunAt: Date.UTC(2026, 1, 1),
      hasManifest: false,
      shards: new Map([[0, 5]]),
    },
  ]);
});

test('the keys that are removed of a set are all of its own, its manifest first', () => {
  const parts = fc.uniqueArray(fc.nat(200));
  fc.assert(
    fc.property(parts, fc.boolean(), (shards, hasManifest) => {
      const id = 'vectors/points/2026-01-01-00-00';
      const keys = [
        ...shards.map((shard) => `${id}/${shardFile(shard)}`),
        ...(hasManifest ? [`${id}/manifest.json`] : []),
      ];
      const [set] = setsIn(
        name,
        keys.map((key) => file(key)),
      );
      const removed = set ? keysOf(set, shardFile) : [];
      expect(removed.toSorted()).toEqual(keys.toSorted());
      if (hasManifest) expect(removed[0]).toBe(`${id}/manifest.json`);
    }),
  );
});

test('a set is complete if everything is there that its manifest names, and is of the same namespace', () => {
  const [set] = setsIn(name, [
    file('vectors/points/2026-01-01-00-00/manifest.json'),
    file('vectors/points/2026-01-01-00-00/shard-0.snapshot', 5),
  ]);
  if (!set) throw new Error('there is none');
  const manifest = {
    format: 1,
    id: set.id,
    ...name,
    namespace: 'shop',
    takenAt: '2026-01-01T00:00:00Z',
    qdrantVersion: '1.19.0',
    config: {},
    shardNumber: 1,
    replicationFactor: 1,
    aliases: [],
    shards: [{ id: 0, file: 'shard-0.snapshot', bytes: 5, sha256: 'a'.repeat(64) }],
  };
  const read = (change: object, namespace = 'shop') =>
    completeSet(set, namespace, JSON.stringify({ ...manifest, ...change })) !== undefined;
  expect(read({})).toBe(true);
  expect(read({}, 'elsewhere')).toBe(false);
  expect(read({ id: 'vectors/points/2026-01-01-00-01' })).toBe(false);
  expect(read({ shards: [{ ...manifest.shards[0], bytes: 6 }] })).toBe(false);
  expect(read({ shards: [...manifest.shards, { ...manifest.shards[0], id: 1 }] })).toBe(false);
  expect(completeSet(set, 'shop', 'not a manifest')).toBeUndefined();
});
