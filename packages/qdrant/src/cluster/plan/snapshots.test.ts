import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Look, look, NOW } from '../../../test/states.ts';
import type { QdrantCluster } from '../../kinds/index.ts';
import { DEFAULTS } from '../../settings.ts';
import type { VolumeSnapshot } from '../foreign-kinds.ts';
import { setsIn, stampOf, volumeSnapshot } from '../objects/index.ts';
import { type ClusterPlan, planCluster } from './index.ts';

const spec = { replicas: 3, volumeSnapshots: { enabled: true } };
const MINUTE = 60_000;

/** The snapshots of one moment, so many minutes before now. */
function aSet(
  minutesAgo: number,
  { size = 3, there = 3, isReady = true, generation = undefined as number | undefined } = {},
) {
  const { cluster } = look({ spec });
  const stamp = stampOf(NOW.getTime() - minutesAgo * MINUTE);
  return Array.from(
    { length: there },
    (_, ordinal): VolumeSnapshot => ({
      ...volumeSnapshot(cluster, ordinal, { stamp, size, generation }),
      status: { readyToUse: isReady },
    }),
  );
}

interface Given extends Look {
  readonly snapshots?: readonly VolumeSnapshot[];
  readonly remembered?: NonNullable<QdrantCluster['status']>['volumeSnapshots'];
  readonly at?: Date;
}

function plan({ snapshots = [], remembered, at = NOW, ...given }: Given): ClusterPlan {
  const { cluster, observed } = look({ ...given, spec: { ...spec, ...given.spec } });
  const status = { ...cluster.status, ...(remembered && { volumeSnapshots: remembered }) };
  return planCluster(
    { ...cluster, status },
    { ...observed, snapshots: { known: true, value: snapshots } },
    DEFAULTS,
    at,
  );
}

const created = ({ steps }: ClusterPlan) =>
  steps.flatMap((step) => (step.do === 'create-volume-snapshot' ? [step.snapshot] : []));
const removed = ({ steps }: ClusterPlan) =>
  steps.flatMap((step) => (step.do === 'remove-volume-snapshot' ? [step.snapshot.metadata.name] : []));
const conditionOf = ({ conditions = [] }: ClusterPlan) => conditions.find(({ type }) => type === 'VolumeSnapshots');

describe('a set that is asked for now', () => {
  const now = { spec: { volumeSnapshots: { enabled: true, createNow: true } } };

  test('is one snapshot for each peer, with names that the server takes', () => {
    const snapshots = created(plan(now));
    expect(snapshots.map(({ metadata }) => metadata.name)).toEqual([
      'vectors-snapshot-20260301-120000-0',
      'vectors-snapshot-20260301-120000-1',
      'vectors-snapshot-20260301-120000-2',
    ]);
    for (const { metadata } of snapshots) expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    expect(snapshots[1]?.spec.source.persistentVolumeClaimName).toBe('qdrant-storage-vectors-1');
    expect(snapshots[1]?.metadata.labels).toMatchObject({
      clustername: 'vectors',
      component: 'qdrant',
      'app.kubernetes.io/managed-by': 'qdrant-operator',
    });
    expect(snapshots[1]?.metadata).not.toHaveProperty('ownerReferences');
  });

  test('is taken once for each generation, whatever becomes of it', () => {
    const before = plan(now).status.volumeSnapshots;
    expect(before).toMatchObject({ generation: 1, lastTime: '2026-03-01T12:00:00Z', lastSet: '20260301-120000' });
    expect(created(plan({ ...now, remembered: before }))).toEqual([]);
    // Killed before the status was written: what was made says it.
    expect(created(plan({ ...now, snapshots: aSet(2, { generation: 1 }) }))).toEqual([]);
    const again = { ...now, metadata: { generation: 2 }, remembered: before };
    expect(created(plan(again))).toHaveLength(3);
  });

  test('is finished under its own name by whoever finds it begun, and begun anew if that was long ago', () => {
    const finished = created(plan({ ...now, snapshots: aSet(2, { there: 1, generation: 1 }) }));
    expect(finished.map(({ metadata }) => metadata.name)).toEqual([
      'vectors-snapshot-20260301-115800-1',
      'vectors-snapshot-20260301-115800-2',
    ]);
    expect(created(plan({ ...now, snapshots: aSet(20, { there: 1, generation: 1 }) }))).toHaveLength(3);
  });

  test('waits until all peers are there', () => {
    const growing = plan({ ...now, size: 1 });
    expect(created(growing)).toEqual([]);
    expect(growing.status.volumeSnapshots?.generation).toBeUndefined();
  });

  test('is of the class that the snapshots name, or else the volumes', () => {
    const classOf = (more: Given['spec']) => created(plan({ spec: { ...more } }))[0]?.spec.volumeSnapshotClassName;
    const persistence = { size: '1Gi', volumeSnapshotClassName: 'of volumes' };
    const volumeSnapshots = { enabled: true, createNow: true };
    expect(classOf({ volumeSnapshots })).toBeUndefined();
    expect(classOf({ volumeSnapshots, persistence })).toBe('of volumes');
    expect(classOf({ volumeSnapshots: { ...volumeSnapshots, snapshotClassName: 'own' }, persistence })).toBe('own');
  });
});

describe('a schedule', () => {
  const hourly = { spec: { volumeSnapshots: { enabled: true, schedule: '30 * * * *' } } };

  test('tells when the next set is due, and takes it then, once', () => {
    const first = plan(hourly);
    expect(created(first)).toEqual([]);
    expect(first.status.volumeSnapshots).toEqual({ schedule: '30 * * * *', nextTime: '2026-03-01T12:30:00Z' });
    expect(first.lookAgain?.afterMs).toBeLessThanOrEqual(30 * MINUTE);
    const remembered = first.status.volumeSnapshots;
    const at = new Date('2026-03-01T12:30:02Z');
    expect(created(plan({ ...hourly, remembered, at: new Date('2026-03-01T12:29:59Z') }))).toEqual([]);
    const due = plan({ ...hourly, remembered, at });
    expect(created(due)).toHaveLength(3);
    expect(due.status.volumeSnapshots).toMatchObject({
      nextTime: '2026-03-01T13:30:00Z',
      lastTime: '2026-03-01T12:30:02Z',
    });
    // Killed before the status was written.
    const found = plan({ ...hourly, remembered, at, snapshots: created(due) });
    expect(created(found)).toEqual([]);
    expect(found.status.volumeSnapshots?.nextTime).toBe('2026-03-01T13:30:00Z');
  });

  test('that was missed is made up for once', () => {
    const remembered = { schedule: '30 * * * *', nextTime: '2026-02-20T12:30:00Z' };
    const late = plan({ ...hourly, remembered });
    expect(created(late)).toHaveLength(3);
    expect(late.status.volumeSnapshots?.nextTime).toBe('2026-03-01T12:30:00Z');
  });

  test('that changed is counted from now on', () => {
    const remembered = { schedule: '0 0 * * *', nextTime: '2026-02-20T00:00:00Z' };
    expect(created(plan({ ...hourly, remembered }))).toEqual([]);
  });

  test('that is none is told, and nothing else is wrong', () => {
    const bad = plan({ spec: { volumeSnapshots: { enabled: true, schedule: 'often' } } });
    expect(conditionOf(bad)).toMatchObject({ status: 'False', reason: 'BadSchedule' });
    expect(bad.summary).toEqual({ is: 'ready' });
  });
});

describe('retention', () => {
  const kept = (retentionCount: number) => ({ spec: { volumeSnapshots: { enabled: true, retentionCount } } });

  test('counts whole sets: neither snapshots nor what was begun or is not ready', () => {
    const [old, torn, whole, unready] = [aSet(40), aSet(30, { there: 2 }), aSet(20), aSet(10, { isReady: false })];
    const snapshots = [...old, ...torn, ...whole, ...unready];
    expect(removed(plan({ ...kept(2), snapshots }))).toEqual([]);
    const names = [...torn, ...old].map(({ metadata }) => metadata.name);
    expect(removed(plan({ ...kept(1), snapshots })).toSorted()).toEqual(names.toSorted());
  });

  test('never deletes the newest whole set, nor fewer than are to be kept', () => {
    const set = fc.record({
      minutesAgo: fc.integer({ min: 1, max: 500 }),
      size: fc.integer({ min: 1, max: 3 }),
      there: fc.integer({ min: 1, max: 3 }),
      isReady: fc.boolean(),
    });
    const sets = fc.uniqueArray(set, { maxLength: 12, selector: ({ minutesAgo }) => minutesAgo });
    let met = 0;
    fc.assert(
      fc.property(sets, fc.integer({ min: 0, max: 4 }), (given, count) => {
        const snapshots = given.flatMap(({ minutesAgo, there, size, isReady }) =>
          aSet(minutesAgo, { size, there: Math.min(there, size), isReady }),
        );
        const isWhole = ({ members, size }: ReturnType<typeof setsIn>[number]) =>
          members.length === size && members.every(({ status }) => status?.readyToUse);
        const whole = setsIn(snapshots).filter(isWhole);
        const gone = removed(plan({ ...kept(count), snapshots }));
        met += gone.length;
        const left = whole.filter(({ members }) => !members.some(({ metadata }) => gone.includes(metadata.name)));
        expect(left.length).toBe(Math.min(whole.length, Math.max(1, count)));
        expect(left[0]).toEqual(whole[0]);
      }),
    );
    expect(met).toBeGreaterThan(0);
  });

  test('leaves alone what is not ours', () => {
    const precious = aSet(400).map((one) => ({ ...one, metadata: { namespace: 'shop', name: 'precious' } }));
    expect(removed(plan({ ...kept(1), snapshots: [...aSet(10), ...aSet(20), ...precious] }))).toHaveLength(3);
  });
});

test('where nobody installed them, that is told, and the cluster is as ready as it is', () => {
  const { cluster, observed } = look({ spec });
  const snapshots = { known: false as const, because: 'this cluster has no VolumeSnapshots' };
  const blind = planCluster(cluster, { ...observed, snapshots }, DEFAULTS, NOW);
  expect(conditionOf(blind)).toMatchObject({ status: 'False', reason: 'Unavailable' });
  expect(blind.summary).toEqual({ is: 'ready' });
});

test('a snapshot that fails is told', () => {
  const [first, ...rest] = aSet(10);
  if (!first) throw new Error('there is none');
  const failed = { ...first, status: { error: { message: 'out of space' } } };
  expect(conditionOf(plan({ snapshots: [failed, ...rest] }))).toMatchObject({
    reason: 'SnapshotFailed',
    message: 'vectors-snapshot-20260301-115000-0: out of space',
  });
});
