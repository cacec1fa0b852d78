import { expect, test } from 'vitest';
import { aManifest, SUM } from '../../test/restore-states.ts';
import { shardKeysIn } from './shard-keys.ts';

type Numbered = readonly [number, (string | number)?];

const keysOf = (...shards: readonly Numbered[]) =>
  shardKeysIn(
    aManifest({
      shards: shards.map(([id, key]) => ({
        id,
        ...(key !== undefined && { key }),
        file: `shard-${id}.snapshot`,
        bytes: 10,
        sha256: SUM,
      })),
    }),
  );

test('keys are made in the order in which their shards are numbered, each with as many as it had', () => {
  expect(keysOf([3, 7], [1, 'north'], [2, 'north'])).toEqual({
    is: 'given',
    keys: [
      { key: 'north', shards: 2 },
      { key: 7, shards: 1 },
    ],
  });
});

test.each<[string, readonly Numbered[], string]>([
  [
    'a key that was dropped in between',
    [
      [1, 'a'],
      [3, 'b'],
    ],
    'shard 3 of backup',
  ],
  [
    'a key whose shards are not together',
    [
      [1, 'a'],
      [2, 'b'],
      [3, 'a'],
    ],
    'has the key "a", and can not get its number back',
  ],
  ['a shard without a key', [[1]], 'has no key'],
])('a number that does not come back is told: %s', (_what, shards, because) => {
  expect(keysOf(...shards)).toMatchObject({ is: 'impossible', because: expect.stringContaining(because) });
});
