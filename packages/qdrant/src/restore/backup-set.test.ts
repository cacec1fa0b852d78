import { describe, expect, test } from 'vitest';
import { hasStayed, setOf } from './backup-set.ts';

const ID = 'vectors/points/2026-01-01-00-00';
const SUM = 'a'.repeat(64);

const shard = (id: number) => ({ id, file: `shard-${id}.snapshot`, bytes: 10, sha256: SUM });
const manifest = (more: object = {}) =>
  JSON.stringify({
    format: 1,
    id: ID,
    cluster: 'vectors',
    collection: 'points',
    takenAt: '2026-01-01T00:00:00Z',
    qdrantVersion: '1.19.0',
    config: { vectors: { size: 4, distance: 'Dot' } },
    shardNumber: 2,
    replicationFactor: 2,
    aliases: [],
    shards: [shard(1), shard(0)],
    ...more,
  });
const at = (...files: readonly string[]) => files.map((file) => ({ key: `${ID}/${file}`, bytes: 10 }));
const OURS = at('manifest.json', 'shard-0.snapshot', 'shard-1.snapshot');

describe('what is under the name of a backup is', () => {
  test('ours, if there is a manifest: its shards in their order', () => {
    expect(setOf(ID, OURS, manifest())).toMatchObject({
      is: 'ours',
      parts: [
        { file: 'shard-0.snapshot', shard: 0, bytes: 10, sha256: SUM, state: 'Found' },
        { file: 'shard-1.snapshot', shard: 1 },
      ],
    });
  });

  test("upstream's, if there is none: the files of its peers, ten after nine", () => {
    const files = Array.from({ length: 11 }, (_, ordinal) => `vectors-${ordinal}.snapshot`);
    const set = setOf(ID, at(...files.toSorted()), undefined);
    expect(set).toMatchObject({ is: 'upstream', parts: files.map((file, ordinal) => ({ file, ordinal })) });
  });

  test.each<[string, Parameters<typeof setOf>, string]>([
    ['a name that is none', ['points', OURS, manifest()], 'points names no backup'],
    ['nothing', [ID, [], undefined], `there is no backup ${ID} in the bucket`],
    ['a manifest of a later program', [ID, OURS, manifest({ format: 2 })], 'is no manifest that this version can read'],
    ['a manifest that was cut off', [ID, OURS, manifest().slice(0, -2)], 'is no manifest'],
    ['a manifest of another backup', [ID, OURS, manifest({ id: 'vectors/points/x' })], 'is that of vectors/points/x'],
    ['a shard too few', [ID, OURS, manifest({ shards: [shard(0)] })], 'has 1 of 2 shards'],
    ['one shard twice', [ID, OURS, manifest({ shards: [shard(0), shard(0)] })], 'does not name each shard once'],
    ['a file too few', [ID, OURS.slice(0, 2), manifest()], `${ID}/shard-1.snapshot is missing`],
    [
      'a file that was cut off',
      [ID, OURS.map((one) => ({ ...one, bytes: 9 })), manifest()],
      'shard-0.snapshot has 9 bytes, and 10 in the manifest',
    ],
    ['files of ours, and no manifest yet', [ID, OURS.slice(1), undefined], 'the backup was not completed'],
    [
      'a peer too few',
      [ID, at('vectors-0.snapshot', 'vectors-2.snapshot'), undefined],
      'vectors-1.snapshot is missing',
    ],
    ['files of another cluster', [ID, at('other-0.snapshot'), undefined], 'the backup was not completed'],
  ])('no backup, if it is %s', (_what, given, because) => {
    expect(setOf(...given)).toEqual({ is: 'unusable', because: expect.stringContaining(because) });
  });
});

test('a backup has changed if a file has another size, sum or name', () => {
  const set = setOf(ID, OURS, manifest());
  const parts = set.is === 'ours' ? set.parts : [];
  expect(
    hasStayed(
      parts,
      parts.map((part) => ({ ...part, state: 'Restored' })),
    ),
  ).toBe(true);
  expect(hasStayed(parts, parts.slice(1))).toBe(false);
  for (const other of [{ bytes: 11 }, { sha256: 'b'.repeat(64) }, { file: 'x' }])
    expect(
      hasStayed(
        parts,
        parts.map((part, index) => (index === 0 ? { ...part, ...other } : part)),
      ),
    ).toBe(false);
});
