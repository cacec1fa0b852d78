import { known, unknown } from '@polder/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BackupStatus, QdrantCluster, QdrantCollectionBackup } from '../kinds/index.ts';
import { DEFAULTS } from '../settings.ts';
import { StepFailed, statusAfter } from './failure.ts';
import type { Observed, PeerSeen, SeenSet } from './observe.ts';
import { planBackup } from './plan.ts';

const NOW = Date.UTC(2026, 0, 1, 12, 30);
const ID = 'vectors/points/2026-01-01-12-30';
const HOUR = 3_600_000;

function aBackup(
  snapshots: Partial<QdrantCollectionBackup['spec']['snapshots']> = {},
  status?: BackupStatus,
): QdrantCollectionBackup {
  return {
    apiVersion: 'qdrant.operator/v1alpha1',
    kind: 'QdrantCollectionBackup',
    metadata: { namespace: 'shop', name: 'daily', uid: 'u', generation: 3 },
    spec: {
      cluster: 'vectors',
      collectionName: 'points',
      snapshots: {
        s3EndpointURL: 'https://s3.example.com',
        s3CredentialsSecretName: 'bucket',
        bucketName: 'backups',
        ...snapshots,
      },
    },
    ...(status && { status }),
  };
}

const cluster: QdrantCluster = {
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: 'QdrantCluster',
  metadata: { namespace: 'shop', name: 'vectors' },
  spec: { replicas: 3, image: 'qdrant/qdrant:v1.19.0' },
  status: { peers: ['1', '2', '3'].map((id) => ({ id, pod: `vectors-${Number(id) - 1}`, uri: `http://${id}` })) },
};

/** Each shard by its copies, each copy by the peer that has it. */
function peer(id: string, shards: readonly (readonly string[])[], more: object = {}): PeerSeen {
  const replicas = shards.flatMap((peers, shard) => peers.map((one) => ({ shard, peer: one, state: 'Active' })));
  return {
    pod: `vectors-${Number(id) - 1}`,
    view: known({
      id,
      members: new Map(),
      leader: '1',
      role: 'Follower',
      commit: 1,
      pendingOperations: 0,
      isVoter: true,
      consensus: { is: 'working' },
      unreached: [],
      distribution: { collection: 'points', shardCount: shards.length, replicas, transfers: [] },
      ...more,
    }),
  };
}

const SHARDS = [
  ['1', '2'],
  ['2', '3'],
  ['3', '1'],
];

const seen: Observed = {
  credentials: {
    is: 'given',
    version: '7',
    bucket: { endpoint: 'https://s3', bucket: 'backups', credentials: { accessKey: 'a', secretAccessKey: 'b' } },
  },
  cluster,
  others: [],
  restores: [],
  storage: { is: 'seen', sets: [] },
  peers: ['1', '2', '3'].map((id) => peer(id, SHARDS)),
};

const plan = (backup: QdrantCollectionBackup, observed: Partial<Observed> = {}, now = NOW) =>
  planBackup(backup, { ...seen, ...observed }, new Date(now), DEFAULTS);

const current = { id: ID, generation: 3, trigger: 'Now' as const, startedAt: '2026-01-01T12:30:00Z' };
const underWay = (more: object = {}) => aBackup({ backupNow: true }, { current: { ...current, ...more } });

const aSet = (more: Partial<SeenSet> = {}): SeenSet => ({
  id: ID,
  begunAt: NOW,
  hasManifest: false,
  shards: new Map(),
  isComplete: false,
  isOurs: true,
  ...more,
});

const copied = (...shards: number[]) => ({
  storage: { is: 'seen' as const, sets: [aSet({ shards: new Map(shards.map((shard) => [shard, 10])) })] },
});

describe('a backup', () => {
  test('is named and remembered before anything is done for it', () => {
    const { steps, status } = plan(aBackup({ backupNow: true }));
    expect(steps).toEqual([]);
    expect(status).toMatchObject({ phase: 'InProgress', current });
  });

  test('waits for the next minute if its name is taken', () => {
    const taken = { storage: { is: 'seen' as const, sets: [aSet({ hasManifest: true, isComplete: true })] } };
    const { status, lookAgain } = plan(aBackup({ backupNow: true }), taken, NOW + 15_000);
    expect(status.current).toBeUndefined();
    expect(lookAgain?.afterMs).toBe(45_000);
  });

  test('copies one missing shard at a time, and writes the manifest last', () => {
    expect(plan(underWay()).steps).toMatchObject([{ do: 'copy-shard', shard: 0 }]);
    expect(plan(underWay(), copied(0, 2)).steps).toMatchObject([{ do: 'copy-shard', shard: 1 }]);
    expect(plan(underWay(), copied(0, 1, 2)).steps).toMatchObject([
      { do: 'write-manifest', shards: [{ id: 0 }, { id: 1 }, { id: 2 }] },
    ]);
    const whole = { storage: { is: 'seen' as const, sets: [aSet({ hasManifest: true, shards: new Map([[0, 1]]) })] } };
    const { steps, status, events } = plan(underWay(), whole);
    expect(steps).toEqual([]);
    expect(status.current).toBeUndefined();
    expect(status.lastBackup).toEqual({ generation: 3, id: ID, time: '2026-01-01T12:30:00Z' });
    expect(events?.[0]?.reason).toBe('BackupCompleted');
  });

  test('asks another peer after a failure', () => {
    const from = (failures: number) =>
      plan(underWay({ failures })).steps.map((step) => step.do === 'copy-shard' && step.from[0]);
    expect([0, 1, 2].map(from)).toEqual([['vectors-0'], ['vectors-1'], ['vectors-0']]);
  });

  test('rests after a failure, unless the spec or the Secret is another one', () => {
    const failed = statusAfter(
      underWay(),
      new StepFailed('no', { cause: new Error('no'), credentials: '7' }),
      new Date(NOW),
    );
    expect(failed).toMatchObject({
      phase: 'Failed',
      lastError: 'no',
      current: { failures: 1, retryAt: '2026-01-01T12:30:10Z' },
    });
    const backup = aBackup({ backupNow: true }, failed);
    expect(plan(backup).steps).toEqual([]);
    expect(plan(backup).lookAgain?.afterMs).toBe(10_000);
    expect(plan(backup, {}, NOW + 10_000).steps).toHaveLength(1);
    const renewed = { ...seen.credentials, version: '8' };
    expect(plan(backup, { credentials: renewed }).steps).toHaveLength(1);
    const edited = { ...backup, metadata: { ...backup.metadata, generation: 4 } };
    expect(plan(edited).steps).toHaveLength(1);
  });
});

describe('a copy counts as live', () => {
  const fromOf = (peers: readonly PeerSeen[]) =>
    plan(underWay(), { peers }).steps.flatMap((step) => (step.do === 'copy-shard' ? [step.from] : []));
  const others = [peer('2', SHARDS), peer('3', SHARDS)];

  test('if its peer answers for itself and everybody calls it active', () => {
    expect(fromOf([peer('1', SHARDS), ...others])).toEqual([['vectors-0', 'vectors-1']]);
    const silent: PeerSeen = { pod: 'vectors-0', view: unknown('it does not answer') };
    expect(fromOf([silent, ...others])).toEqual([['vectors-1']]);
    const doubting = peer('3', [['2'], ['2', '3'], ['3', '1']]);
    expect(fromOf([peer('1', SHARDS), peer('2', SHARDS), doubting])).toEqual([['vectors-1']]);
  });

  test('and not if it was removed, nobody leads it, or its consensus has stopped', () => {
    for (const more of [
      { isVoter: false },
      { leader: undefined },
      { consensus: { is: 'stopped', because: 'no' } },
      { id: '9' },
    ]) {
      expect(fromOf([peer('1', SHARDS, more), ...others])).toEqual([['vectors-1']]);
    }
  });
});

describe('a rule holds it back', () => {
  const holding = (observed: Partial<Observed>) => plan(underWay(), observed).held.map(({ rule }) => rule);

  test('during transfers and restores, and while another one is under way', () => {
    const travelling = peer('1', SHARDS, {
      distribution: {
        collection: 'points',
        shardCount: 3,
        replicas: [{ shard: 0, peer: '1', state: 'Active' }],
        transfers: [{ shard: 2, from: '1', to: '2' }],
      },
    });
    expect(new Set(holding({ peers: [travelling] }))).toEqual(new Set(['no-backup-during-a-transfer']));
    expect(new Set(holding({ restores: ['back'] }))).toEqual(new Set(['no-backup-during-a-restore']));
    const earlier = { ...underWay(), metadata: { name: 'a', uid: 'v' } };
    expect(new Set(holding({ others: [earlier] }))).toEqual(new Set(['one-backup-of-a-cluster-at-a-time']));
    const failing = { ...earlier, status: { current: { ...current, failures: 2 } } };
    expect(holding({ others: [failing] })).toEqual([]);
  });

  test('of two, exactly one goes on', () => {
    const [a, b] = ['a', 'b'].map((name) => ({ ...underWay(), metadata: { name, uid: name, generation: 3 } }));
    if (!a || !b) return;
    const goesOn = [
      planBackup(a, { ...seen, others: [b] }, new Date(NOW), DEFAULTS),
      planBackup(b, { ...seen, others: [a] }, new Date(NOW), DEFAULTS),
    ];
    expect(goesOn.filter(({ steps }) => steps.length > 0)).toHaveLength(1);
  });

  test('for a shard without a live copy, which is named; the others are copied', () => {
    const { steps, held } = plan(underWay(), { peers: [peer('2', SHARDS)] });
    expect(steps).toMatchObject([{ shard: 0 }]);
    expect(held).toMatchObject([{ rule: 'a-shard-is-copied-from-a-live-copy', step: { shard: 2 } }]);
    expect(held[0]?.because).toContain('shard 2 has no copy');
  });

  test('if a shard is listed by nobody', () => {
    const lost = {
      distribution: {
        collection: 'points',
        shardCount: 4,
        replicas: [{ shard: 0, peer: '1', state: 'Active' }],
        transfers: [],
      },
    };
    const { steps, held } = plan(underWay(), { peers: [peer('1', SHARDS, lost)], ...copied(0) });
    expect(steps).toEqual([]);
    expect(held).toMatchObject([
      { rule: 'a-backup-has-every-shard', because: '1 of 4 shards are known; the others have no copy left' },
    ]);
  });
});

test('what a dead operator left on a peer is removed, and forgotten once it is', () => {
  const leftovers = [
    { pod: 'vectors-0', shard: 1, others: ['theirs'] },
    { pod: 'vectors-1', shard: 1, others: [] },
    { pod: 'vectors-9', shard: 1, others: [] },
  ];
  const silent: PeerSeen = { pod: 'vectors-1', view: unknown('it does not answer') };
  const peers = [peer('1', SHARDS), silent];
  const { steps, status } = plan(aBackup({}, { leftovers, observedGeneration: 3 }), { peers });
  expect(steps).toMatchObject([{ do: 'clear-leftover', leftover: leftovers[0] }]);
  expect(status.leftovers).toEqual([leftovers[1]]);
});

describe('one that is deleted', () => {
  const deleted = (backup: QdrantCollectionBackup): QdrantCollectionBackup => ({
    ...backup,
    metadata: { ...backup.metadata, deletionTimestamp: '2026-01-01T12:31:00Z' },
  });
  const stored = (more: Partial<SeenSet>) => ({ storage: { is: 'seen' as const, sets: [aSet(more)] } });

  test('removes the set that it began, and what nobody completed of a file', () => {
    const { steps, isCleanedUp } = plan(deleted(underWay()), copied(0, 1));
    expect(steps).toMatchObject([{ do: 'remove-set', set: { id: ID } }]);
    expect(isCleanedUp).toBe(true);
    expect(plan(deleted(underWay())).steps).toMatchObject([{ do: 'remove-set', set: { id: ID, shards: new Map() } }]);
  });

  test.each<[string, Partial<Observed>]>([
    ['is complete', stored({ hasManifest: true })],
    ['is of another namespace', stored({ isOurs: false })],
    ['another backup goes on with', { ...copied(0), others: [underWay()] }],
  ])('leaves a set alone that %s', (_, observed) => {
    expect(plan(deleted(underWay()), observed)).toMatchObject({ steps: [], isCleanedUp: true });
  });

  test('is let go after so many attempts, also if the storage lists what it does not remove', () => {
    const vain = { ...underWay(), status: { current, cleanupAttempts: DEFAULTS.cleanupAttempts } };
    const { steps, events, isCleanedUp } = plan(deleted(vain), copied(0));
    expect([steps, isCleanedUp]).toEqual([[], true]);
    expect(events?.[0]?.note).toContain(`the files of ${ID} in bucket backups may be left`);
  });

  test('waits for a pod that may have a snapshot of its, and clears what it can', () => {
    const leftovers = [
      { pod: 'vectors-0', shard: 1, others: [] },
      { pod: 'vectors-1', shard: 2, others: [] },
    ];
    const peers = [peer('1', SHARDS)];
    const waiting = plan(deleted(aBackup({}, { leftovers })), { peers });
    expect(waiting).toMatchObject({
      steps: [{ do: 'clear-leftover', leftover: leftovers[0] }],
      status: { leftovers: [leftovers[1]], cleanupAttempts: 1 },
    });
    expect(waiting.isCleanedUp).toBeUndefined();
    expect(plan(deleted(aBackup({}, { leftovers })), { peers, cluster: undefined }).isCleanedUp).toBe(true);
  });
});

test('whatever is in the bucket, the newest complete backups stay, and only what is ours goes', () => {
  const sets = fc.array(
    fc.record({ hours: fc.nat(200), hasManifest: fc.boolean(), isOurs: fc.boolean(), isBroken: fc.boolean() }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(sets, fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }), (drawn, retentionCount) => {
      const found = drawn
        .map(({ hours, hasManifest, isOurs, isBroken }, at) =>
          aSet({
            id: `${at}`,
            begunAt: NOW - hours * HOUR,
            hasManifest,
            isOurs,
            isComplete: hasManifest && isOurs && !isBroken,
          }),
        )
        .toSorted((a, b) => a.begunAt - b.begunAt);
      const backup = aBackup(retentionCount === undefined ? {} : { retentionCount });
      const steps = plan(backup, { storage: { is: 'seen', sets: found } }).steps;
      const removed = new Set(steps.flatMap((step) => (step.do === 'remove-set' ? [step.set.id] : [])));
      const complete = found.filter(({ isComplete }) => isComplete);
      const kept = complete.slice(-(retentionCount ?? complete.length));
      for (const { id } of kept) expect(removed.has(id)).toBe(false);
      for (const set of found) {
        if (!set.isOurs) expect(removed.has(set.id)).toBe(false);
        if (!set.hasManifest && NOW - set.begunAt <= 24 * HOUR) expect(removed.has(set.id)).toBe(false);
        if (set.isComplete && !kept.includes(set)) expect(removed.has(set.id)).toBe(true);
        if (set.hasManifest && !set.isComplete) expect(removed.has(set.id)).toBe(false);
      }
    }),
  );
});

test('while nobody can help it by looking again, it is not looked at again', () => {
  const overdue: BackupStatus = { schedule: '@hourly', nextBackup: '2026-01-01T12:00:00Z' };
  const missing = { is: 'missing' as const, because: 'Secret bucket is missing' };
  const { lookAgain, summary } = plan(aBackup({ backupSchedule: '@hourly' }, overdue), { credentials: missing });
  expect(lookAgain).toBeUndefined();
  expect(summary).toMatchObject({ is: 'stalled', reason: 'CredentialsMissing' });
  expect(plan(underWay(), { cluster: undefined })).toMatchObject({ summary: { reason: 'ClusterMissing' } });
});

test('a spec by which nothing can be backed up is refused with its reason', () => {
  const because = (backup: QdrantCollectionBackup) => {
    const { summary } = plan(backup);
    return summary?.is === 'stalled' ? [summary.reason, summary.because] : undefined;
  };
  expect(because(aBackup({ backupSchedule: '61 * * * *' }))?.[1]).toContain('spec.snapshots.backupSchedule: ');
  expect(because(aBackup({ s3EndpointURL: 'minio:9000' }))?.[1]).toContain('is no URL that begins with http');
  const dots = aBackup();
  expect(because({ ...dots, spec: { ...dots.spec, collectionName: '..' } })?.[0]).toBe('InvalidSpec');
});
