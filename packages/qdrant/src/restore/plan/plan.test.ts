import { describe, expect, test } from 'vitest';
import {
  aManifest,
  aRestore,
  ID,
  ofPeer,
  ours,
  part,
  SHARDS,
  SUM,
  seen,
  underWay,
  upstreams,
} from '../../../test/restore-states.ts';
import { distributionOf, type Look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import type { Observed } from '../observe.ts';
import { planRestore } from './index.ts';

const plan = (restore = aRestore(), observed: Observed | undefined = seen()) =>
  planRestore(restore, observed, NOW, DEFAULTS);
const stepsOf = (...given: Parameters<typeof plan>) => plan(...given).steps.map((step) => step.do);
const AGO = '2026-03-01T11:59:00Z';
const WHOLE = [part(0, 'Verified'), part(1, 'Verified')] as const;
const nothing = { distributions: { known: true, value: [] } } as const;
const missing: Look = { views: { 0: nothing, 1: nothing, 2: nothing } };
/** Of the temporary collection. */
const TEMPORARY = 'points-restore-abcdefgh';
const merging = {
  ...underWay(part(0, 'Restored'), part(1, 'Restored')),
  temporary: { cluster: 'vectors', collection: TEMPORARY },
};
/** Both collections are there. */
const both = (more: Partial<Observed> = {}): Observed => {
  const observed = seen(more);
  const pods = observed.pods.map((one) => {
    if (!one.peer.known) return one;
    const value = [distributionOf(SHARDS), { ...distributionOf([[0], [1]]), collection: TEMPORARY }];
    return {
      ...one,
      peer: { known: true as const, value: { ...one.peer.value, distributions: { known: true as const, value } } },
    };
  });
  return { ...observed, pods };
};

describe('before anything is done', () => {
  test('it is written down that it began, and what it consists of', () => {
    expect(plan()).toMatchObject({
      steps: [],
      status: {
        phase: 'InProgress',
        generation: 1,
        startedAt: '2026-03-01T12:00:00Z',
        progress: '0 of 2',
        parts: [{ state: 'Found' }, { state: 'Found' }],
      },
    });
  });

  test('every file is read, and has to be what the manifest says', () => {
    const restore = aRestore(underWay(part(0, 'Found'), part(1, 'Found')));
    const hashed = (sha256: string): Observed['hashed'] => ({
      known: true,
      value: { file: 'shard-0.snapshot', bytes: 10, sha256 },
    });
    expect(plan(restore, seen({ hashed: hashed(SUM) }))).toMatchObject({
      steps: [],
      status: { parts: [{ state: 'Verified' }, { state: 'Found' }] },
    });
    expect(plan(restore, seen({ hashed: hashed('b'.repeat(64)) }))).toMatchObject({
      steps: [],
      status: { phase: 'Failed', error: expect.stringContaining('the file is damaged') },
    });
  });

  test('an upload is written down', () => {
    expect(plan(aRestore(underWay(...WHOLE)))).toMatchObject({
      steps: [],
      status: { parts: [{ state: 'Uploading' }, { state: 'Verified' }] },
    });
  });

  test('a temporary collection is written down, under a name that only this restore has', () => {
    expect(plan(aRestore(undefined, { mode: 'merge' }))).toMatchObject({
      steps: [],
      status: { temporary: { cluster: 'vectors', collection: TEMPORARY } },
    });
  });
});

describe('shard keys', () => {
  const config = { vectors: { size: 4, distance: 'Dot' }, sharding_method: 'custom' };
  const shards = aManifest().shards.map((one) => ({ ...one, id: one.id + 1, key: `key ${one.id}` }));
  const keyed = ours(aManifest({ config, shards }));
  const begun = aRestore(underWay(part(1, 'Verified'), part(2, 'Verified')));

  test('are made after the collection, one by one, in the order of their shards', () => {
    const set = { known: true, value: { is: 'ours', manifest: aManifest({ config, shards }), parts: [] } } as const;
    const parts = { ...set, value: { ...set.value, parts: [part(1, 'Found'), part(2, 'Found')] } };
    expect(plan(begun, seen({ set: parts }, missing)).steps).toMatchObject([{ do: 'create-collection' }]);
    const empty = { distributions: { known: true, value: [distributionOf([])] } } as const;
    const made = seen({ set: parts }, { views: { 0: empty, 1: empty, 2: empty } });
    expect(plan(begun, made).steps).toMatchObject([{ do: 'create-shard-key', key: 'key 0', shards: 1, copies: 2 }]);
  });

  test('that can not get the numbers of their shards back are told before anything is changed', () => {
    const manifest = aManifest({ config, shards: shards.map((one) => ({ ...one, id: one.id * 2 })) });
    const { status, steps } = plan(aRestore(), seen({ set: ours(manifest) }, missing));
    expect(status).toMatchObject({ phase: 'Failed', error: expect.stringContaining('can not get its number back') });
    expect(steps).toEqual([]);
    expect(plan(aRestore(), seen({ set: keyed }, missing)).status).toMatchObject({ phase: 'InProgress' });
  });
});

describe('a file', () => {
  const uploading = aRestore(underWay(part(0, 'Uploading'), part(1, 'Verified')));

  test('goes to one peer that has the shard, and is waited for then', () => {
    expect(plan(uploading)).toMatchObject({
      steps: [{ do: 'upload-part', via: { pod: 'vectors-0' }, collection: 'points', key: `${ID}/shard-0.snapshot` }],
      status: { parts: [{ state: 'Settling', sentAt: '2026-03-01T12:00:00.000Z' }, { state: 'Verified' }] },
    });
  });

  test('is restored when marks had time to come, everybody calls every copy active, and all have as many points', () => {
    const settling = (sentAt: string) => aRestore(underWay(part(0, 'Settling', { sentAt }), part(1, 'Verified')));
    const states = (plan: ReturnType<typeof planRestore>) => plan.status.parts?.map(({ state }) => state);
    expect(states(plan(settling(AGO)))).toEqual(['Restored', 'Verified']);
    expect(plan(settling(AGO)).status.parts?.[0]?.points).toBe(30);
    expect(states(plan(settling('2026-03-01T11:59:59Z')))).toEqual(['Settling', 'Verified']);
    const told = (states: Record<string, string>, transfers = [{ shard: 0, from: '1', to: '2' }].slice(1)) => ({
      distributions: { known: true as const, value: [{ ...distributionOf(SHARDS, states), transfers }] },
    });
    const dead = seen({}, { views: { 2: told({ '0@1': 'Dead' }) } });
    expect(states(plan(settling(AGO), dead))).toEqual(['Settling', 'Verified']);
    const travelling = seen({}, { views: { 2: told({}, [{ shard: 1, from: '1', to: '2' }]) } });
    expect(states(plan(settling(AGO), travelling))).toEqual(['Settling', 'Verified']);
    const fewer = {
      ...distributionOf(SHARDS),
      replicas: distributionOf(SHARDS).replicas.map((one) => ({ ...one, points: 29 })),
    };
    const differing = seen({}, { views: { 1: { distributions: { known: true, value: [fewer] } } } });
    expect(plan(settling(AGO), differing).status).toMatchObject({
      parts: [{ state: 'Settling' }, { state: 'Verified' }],
      message: 'the copies of shard 0 have 30, 29 points',
    });
  });

  test("of upstream's goes to the peer of its ordinal", () => {
    const restore = aRestore(underWay(ofPeer(0, 'Restored'), ofPeer(1, 'Uploading')));
    expect(plan(restore, seen({ set: upstreams(2) })).steps).toMatchObject([{ via: { pod: 'vectors-1' } }]);
  });

  test('that changed in the bucket is not used', () => {
    const other = aManifest({ shards: aManifest().shards.map((one) => ({ ...one, bytes: 11 })) });
    const set: Observed['set'] = {
      known: true,
      value: { is: 'ours', manifest: other, parts: [part(0, 'Found', { bytes: 11 }), part(1, 'Found', { bytes: 11 })] },
    };
    expect(plan(uploading, seen({ set }))).toMatchObject({
      steps: [],
      status: { phase: 'Failed', error: 'the backup has changed while it was restored' },
    });
  });
});

describe('a collection that is missing', () => {
  test('is created from the manifest', () => {
    expect(plan(aRestore(underWay(...WHOLE)), seen({}, missing)).steps).toMatchObject([
      {
        do: 'create-collection',
        collection: 'points',
        config: { vectors: { size: 4, distance: 'Dot' }, shard_number: 2, replication_factor: 2 },
      },
    ]);
  });

  test('was deleted meanwhile, if files are in it: that is no reason to begin again', () => {
    const restore = aRestore(underWay(part(0, 'Restored'), part(1, 'Verified')));
    expect(plan(restore, seen({}, missing))).toMatchObject({ steps: [], status: { phase: 'Failed' } });
  });

  test('is created with one copy, if it is temporary', () => {
    const restore = aRestore({ ...underWay(...WHOLE), temporary: { cluster: 'vectors', collection: TEMPORARY } });
    expect(plan(restore).steps).toMatchObject([{ collection: TEMPORARY, config: { replication_factor: 1 } }]);
  });
});

describe('points that are merged', () => {
  test('are written page by page, and where the next begins is written down', () => {
    const page: Observed['page'] = { known: true, value: { points: [{ id: 1 }, { id: 2 }], next: '3' } };
    expect(plan(aRestore(merging), both({ page }))).toMatchObject({
      steps: [{ do: 'write-points', collection: 'points', points: [{ id: 1 }, { id: 2 }] }],
      status: { merged: { points: 2, next: '3' }, temporary: { collection: TEMPORARY } },
    });
  });

  test('are all there after the last page: then the temporary collection goes', () => {
    const done = plan(aRestore({ ...merging, merged: { points: 60 } }), both());
    expect(done.steps).toMatchObject([{ do: 'delete-temporary', collection: TEMPORARY }]);
    expect(done.status.temporary).toBeUndefined();
    const { temporary: _gone, ...after } = { ...merging, merged: { points: 60 } };
    expect(plan(aRestore(after)).status).toMatchObject({ phase: 'Completed', points: 60 });
  });
});

describe('what is over', () => {
  const completed = { ...underWay(part(0, 'Restored'), part(1, 'Restored')), phase: 'Completed' as const };

  test('stays as it is, whatever there is to see', () => {
    for (const phase of ['Completed', 'Failed'] as const)
      expect(plan(aRestore({ ...completed, phase }), undefined)).toMatchObject({
        steps: [],
        held: [],
        status: { ...completed, phase },
      });
  });

  test('begins anew with another generation', () => {
    expect(plan(aRestore(completed, {}, { generation: 2 })).status).toMatchObject({
      phase: 'InProgress',
      generation: 2,
      parts: [{ state: 'Found' }, { state: 'Found' }],
    });
  });

  test('is tidied up first, if a generation that was given up left something behind', () => {
    const restore = aRestore({ ...merging }, {}, { generation: 2 });
    const { steps, status } = plan(restore, both());
    expect(steps).toMatchObject([{ do: 'delete-temporary', collection: TEMPORARY }]);
    expect(status).toMatchObject({ phase: 'Pending' });
  });

  test('still removes the temporary collection of a merge that failed', () => {
    expect(stepsOf(aRestore({ ...merging, phase: 'Failed' }), both())).toEqual(['delete-temporary']);
  });
});

describe('a restore fails before it has begun if', () => {
  test.each<[string, Parameters<typeof aRestore>[1], Partial<Observed>, string]>([
    [
      'the collection is an alias',
      {},
      { aliases: { known: true, value: new Map([['points', 'real']]) } },
      'points is an alias of real',
    ],
    ['its name would stop the cluster', { collection: '.' }, {}, 'can not be called .'],
    [
      'its vectors are others',
      {},
      { set: ours(aManifest({ config: { vectors: { size: 8, distance: 'Dot' } } })) },
      'its vectors are 4 Dot, and those of the backup 8 Dot',
    ],
    [
      'its shards are others',
      {},
      {
        set: ours(
          aManifest({ shards: [1, 2].map((id) => ({ id, file: `shard-${id}.snapshot`, bytes: 10, sha256: SUM })) }),
        ),
      },
      'has the shards 0, 1',
    ],
    [
      'a shard is that of another key',
      {},
      { set: ours(aManifest({ shards: aManifest().shards.map((one) => ({ ...one, key: 'a' })) })) },
      'shard 0 of collection points has no key',
    ],
    [
      'points with shard keys should be merged',
      { mode: 'merge' },
      {
        set: ours(aManifest({ config: { vectors: { size: 4, distance: 'Dot' }, sharding_method: 'custom' } })),
        shapes: new Map([
          [
            'points',
            {
              known: true,
              value: {
                vectors: { size: 4, distance: 'Dot' },
                sparseVectors: {},
                shardNumber: 2,
                isCustomSharded: true,
              },
            },
          ],
        ]),
      },
      'can be replaced, but not merged',
    ],
  ])('%s', (_what, spec, more, error) => {
    const { status, steps } = plan(aRestore(undefined, spec), seen(more));
    expect(status).toMatchObject({ phase: 'Failed', generation: 1, error: expect.stringContaining(error) });
    expect(status.message).toContain('Nothing of the collection was changed');
    expect(steps).toEqual([]);
  });
});

test('aliases are given, but for those that stand for another collection, or are one', () => {
  const all = aRestore(underWay(part(0, 'Restored', { points: 30 }), part(1, 'Restored', { points: 30 })));
  const set = ours(aManifest({ aliases: ['current', 'other', 'points'] }));
  const aliases: Observed['aliases'] = { known: true, value: new Map([['other', 'else']]) };
  expect(plan(all, seen({ set, aliases })).steps).toMatchObject([{ do: 'create-aliases', aliases: ['current'] }]);
  const given: Observed['aliases'] = {
    known: true,
    value: new Map([
      ['other', 'else'],
      ['current', 'points'],
    ]),
  };
  expect(plan(all, seen({ set, aliases: given }))).toMatchObject({
    steps: [],
    status: { phase: 'Completed', points: 60, message: expect.stringContaining('left to others: other, points') },
    events: [{ type: 'Normal', reason: 'RestoreCompleted' }],
  });
});

describe('a restore that is deleted', () => {
  const deleted = { deletionTimestamp: '2026-03-01T12:00:00Z' };

  test('goes when its temporary collection is gone', () => {
    expect(plan(aRestore(merging, {}, deleted), both())).toMatchObject({
      steps: [{ do: 'delete-temporary', collection: TEMPORARY }],
      isCleanedUp: true,
    });
    expect(plan(aRestore(merging, {}, deleted), seen())).toMatchObject({ steps: [], isCleanedUp: true });
  });

  test('waits for somebody to tell, unless there is no cluster any more, or it is forced', () => {
    const silent = { 0: 'silent', 1: 'silent', 2: 'silent' } as const;
    expect(plan(aRestore(merging, {}, deleted), seen({}, { views: silent })).isCleanedUp).toBe(false);
    expect(plan(aRestore(merging, {}, deleted), seen({ cluster: undefined, pods: [] })).isCleanedUp).toBe(true);
    const annotations = { 'qdrant.operator/force-delete': 'true' };
    const forced = plan(aRestore(merging, {}, { ...deleted, annotations }), seen({}, { views: silent }));
    expect(forced).toMatchObject({ isCleanedUp: true, events: [{ reason: 'CleanupForced' }] });
  });
});
