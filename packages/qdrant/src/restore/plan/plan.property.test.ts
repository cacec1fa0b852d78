import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aManifest, aRestore, ofPeer, ours, part, SUM, seen, upstreams } from '../../../test/restore-states.ts';
import { distributionOf, idOf, NOW } from '../../../test/states.ts';
import type { Distribution } from '../../api/index.ts';
import type { PeerView } from '../../cluster/observe.ts';
import type { QdrantCollectionRestore, RestorePart } from '../../kinds/index.ts';
import { DEFAULTS } from '../../settings.ts';
import type { Observed } from '../observe.ts';
import { planRestore, type RestorePlan, type RestoreStep } from './index.ts';

/** A restore of three shards, at any moment of its life, and whatever can be seen of it. */
interface Seen {
  readonly restore: QdrantCollectionRestore;
  readonly observed: Observed;
}

const mostly = <T>(value: T, otherwise: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 10, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: otherwise });

const NOT_ASKED = { known: false, because: 'nobody was asked' } as const;
const SHAPE = { vectors: { size: 4, distance: 'Dot' }, sparseVectors: {}, shardNumber: 3, isCustomSharded: false };
const MANIFEST = aManifest({
  shardNumber: 3,
  shards: [0, 1, 2].map((id) => ({ id, file: `shard-${id}.snapshot`, bytes: 10, sha256: SUM })),
});
const READY = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;

const state = fc.constantFrom<RestorePart['state']>('Found', 'Verified', 'Uploading', 'Settling', 'Restored');
/** As it goes: all are verified, then one after the other. */
const orderly: fc.Arbitrary<RestorePart['state'][]> = fc
  .tuple(
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom('Verified' as const, 'Uploading' as const, 'Settling' as const),
  )
  .map(([at, is]) => [0, 1, 2].map((index) => (index < at ? 'Restored' : index === at ? is : 'Verified')));
const states = fc.oneof(
  { weight: 4, arbitrary: orderly },
  { weight: 1, arbitrary: fc.array(state, { minLength: 3, maxLength: 3 }) },
);

const ORDINALS = [0, 1, 2] as const;
const replicaState = fc.constantFrom('Dead', 'Partial', 'ManualRecovery', 'Recovery');
const holders = fc.subarray([...ORDINALS], { minLength: 1 });

/** What is otherwise about the view of a peer. */
const view = (shards: readonly (readonly number[])[]): fc.Arbitrary<Partial<PeerView> | 'silent'> => {
  const told = (distribution: Distribution): Partial<PeerView> => ({
    distributions: { known: true, value: [distribution] },
  });
  const replicas = shards.flatMap((at, shard) => at.map((ordinal) => `${shard}@${ordinal}`));
  return fc.oneof(
    fc.constantFrom<(Partial<PeerView> | 'silent')[]>(
      'silent',
      { leader: undefined },
      { leader: idOf(1) },
      { consensus: { is: 'stopped', because: 'no space' } },
      { unreached: ['http://vectors-2.vectors-headless.shop:6335/'] },
      { members: new Map() },
      { version: '1.18.0' },
      { distributions: { known: false, because: 'timeout' } },
      { distributions: { known: true, value: [] } },
    ),
    fc
      .tuple(fc.subarray(replicas, { minLength: 1 }), replicaState)
      .map(([some, is]) => told(distributionOf(shards, Object.fromEntries(some.map((one) => [one, is]))))),
    fc
      .integer({ min: 0, max: 2 })
      .map((shard) => told({ ...distributionOf(shards), transfers: [{ shard, from: idOf(0), to: idOf(1) }] })),
  );
};

const cluster = fc.tuple(holders, holders, holders).chain((shards) =>
  fc.record({
    shards: fc.constant(shards),
    views: fc.dictionary(fc.constantFrom('0', '1', '2'), mostly<Partial<PeerView> | 'silent'>({}, view(shards))),
  }),
);

const anything: fc.Arbitrary<Seen> = fc
  .record({
    cluster,
    states,
    phase: fc.constantFrom(
      undefined,
      'InProgress' as const,
      'InProgress' as const,
      'Completed' as const,
      'Failed' as const,
    ),
    generation: mostly(1, fc.constant(2)),
    isUpstream: mostly(false, fc.constant(true)),
    isMerge: mostly(false, fc.constant(true)),
    operation: mostly<object>({}, fc.constant({ operation: 'restart-pod' })),
    ready: mostly<'True' | 'False'>('True', fc.constant('False')),
    hashed: mostly<Observed['hashed']>(
      NOT_ASKED,
      fc.constant({ known: true, value: { file: 'shard-0.snapshot', bytes: 10, sha256: SUM } }),
    ),
    set: mostly<Observed['set'] | undefined>(undefined, fc.constant({ known: false, because: 'timeout' })),
    shape: mostly(SHAPE, fc.constant({ ...SHAPE, shardNumber: 2 })),
    backup: mostly<string | undefined>(undefined, fc.constant('nightly')),
    others: mostly<readonly string[]>([], fc.constant(['other'])),
  })
  .map((given) => {
    const parts = given.states.map((is, at) => (given.isUpstream ? ofPeer(at, is) : part(at, is)));
    const status = given.phase && {
      phase: given.phase,
      generation: 1,
      startedAt: '2026-03-01T11:00:00Z',
      parts: parts.map((one) => ({ ...one, ...(one.state === 'Settling' && { sentAt: '2026-03-01T11:00:00Z' }) })),
      ...(given.isMerge && { temporary: { cluster: 'vectors', collection: 'points' } }),
    };
    const spec = { collection: given.isMerge ? 'real' : 'points', mode: given.isMerge ? 'merge' : 'replace' } as const;
    const peers = ORDINALS.map((at) => ({ id: idOf(at), pod: `vectors-${at}`, uri: '' }));
    const ofCluster = {
      observedGeneration: 1,
      peers,
      conditions: [{ ...READY, status: given.ready }],
      ...given.operation,
    };
    const { set, shape, hashed, backup, others } = given;
    const more = {
      set: set ?? (given.isUpstream ? upstreams(3) : ours(MANIFEST)),
      hashed,
      shapes: new Map([['points', { known: true, value: shape } as const]]),
      backup,
      others,
    };
    return {
      restore: aRestore(status, spec, { generation: given.generation }),
      observed: seen(more, { ...given.cluster, status: ofCluster }),
    };
  });

/** `POLDER_RUNS=100000` looks for more. */
const RUNS = Number(process.env['POLDER_RUNS'] ?? 2_000);
const PATIENT = 120_000;

type Upload = Extract<RestoreStep, { readonly do: 'upload-part' }>;

/** Every upload that is ever planned. A property that never meets one proves nothing. */
function holdsForUploads(check: (step: Upload, seen: Seen, plan: RestorePlan) => void): void {
  let met = 0;
  fc.assert(
    fc.property(anything, (seen) => {
      const plan = planRestore(seen.restore, seen.observed, NOW, DEFAULTS);
      for (const step of plan.steps) {
        if (step.do !== 'upload-part') continue;
        met++;
        check(step, seen, plan);
      }
    }),
    { numRuns: RUNS },
  );
  expect(met).toBeGreaterThan(RUNS / 200);
}

const recorded = ({ restore }: Seen) => restore.status?.parts ?? [];

test(
  'no plan has two steps',
  () =>
    fc.assert(
      fc.property(anything, ({ restore, observed }) => {
        expect(planRestore(restore, observed, NOW, DEFAULTS).steps.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: RUNS },
    ),
  PATIENT,
);

test(
  'no file is uploaded that is not written down as being uploaded, of this generation, and of a whole verified backup',
  () =>
    holdsForUploads((step, seen) => {
      expect(seen.restore.status).toMatchObject({ phase: 'InProgress', generation: seen.restore.metadata.generation });
      const states = new Map(recorded(seen).map(({ file, state }) => [file, state]));
      expect(states.get(step.part.file)).toBe('Uploading');
      expect([...states.values()]).not.toContain('Found');
      expect(step.part.sha256).toBe(SUM);
    }),
  PATIENT,
);

test(
  'no file is uploaded while another one is, or is not restored by all',
  () =>
    holdsForUploads((step, seen) => {
      const others = recorded(seen).filter(({ file }) => file !== step.part.file);
      for (const { state } of others) expect(['Verified', 'Restored']).toContain(state);
    }),
  PATIENT,
);

test(
  'no file is uploaded unless every member answers, works, and calls every copy of the other shards active, and none travels',
  () =>
    holdsForUploads((step, { observed }) => {
      const views = observed.pods.flatMap(({ peer }) => (peer.known ? [peer.value] : []));
      const leader = views.find(({ id, leader }) => id === leader);
      for (const id of leader?.members.keys() ?? []) {
        const view = views.find((one) => one.id === id);
        expect(view).toMatchObject({ consensus: { is: 'working' }, leader: leader?.id });
        const found = view?.distributions.known
          ? view.distributions.value.find(({ collection }) => collection === step.collection)
          : undefined;
        for (const { shard, state } of found?.replicas ?? [])
          if (shard !== step.part.shard) expect(state).toBe('Active');
        expect(found?.transfers ?? []).toEqual([]);
      }
    }),
  PATIENT,
);

test(
  'no file is uploaded to a peer that does not have the shard, or into a collection of another shape',
  () =>
    holdsForUploads((step, { observed }) => {
      if (step.part.shard === undefined) return;
      const pod = observed.pods.find((one) => one.pod.metadata.name === step.via.pod);
      const view = pod?.peer.known ? pod.peer.value : undefined;
      const found = view?.distributions.known
        ? view.distributions.value.find(({ collection }) => collection === step.collection)
        : undefined;
      expect(found?.replicas.some(({ shard, peer }) => shard === step.part.shard && peer === view?.id)).toBe(true);
      expect(observed.shapes.get('points')).toMatchObject({ value: { shardNumber: 3 } });
    }),
  PATIENT,
);

test(
  'no file is uploaded while the cluster is changed, a backup is taken or another restore comes first',
  () =>
    holdsForUploads((_step, { observed }) => {
      expect(observed.cluster?.status?.operation).toBeUndefined();
      expect(observed.backup).toBeUndefined();
      expect(observed.others).toEqual([]);
    }),
  PATIENT,
);

test(
  'what is over does nothing but remove its temporary collection, and no plan removes another',
  () =>
    fc.assert(
      fc.property(anything, ({ restore, observed }) => {
        const { steps } = planRestore(restore, observed, NOW, DEFAULTS);
        const { phase, generation, temporary } = restore.status ?? {};
        const isOver = generation === restore.metadata.generation && (phase === 'Completed' || phase === 'Failed');
        for (const step of steps) {
          if (isOver) expect(step.do).toBe('delete-temporary');
          if (step.do === 'delete-temporary') expect(step.collection).toBe(temporary?.collection);
        }
      }),
      { numRuns: RUNS },
    ),
  PATIENT,
);
