import { describe, expect, test } from 'vitest';
import { aPod, claimSeen, distributionOf, idOf, type Look, look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import type { PeerView } from '../observe.ts';
import { planCluster, rules } from './index.ts';
import { situationOf } from './situation.ts';
import type { ClusterStep } from './step.ts';

function plan(given: Look) {
  const { cluster, observed } = look(given);
  return planCluster(cluster, observed, DEFAULTS, NOW);
}

/** The rules that forbid a step, and why. */
function objections(step: ClusterStep, given: Look): Readonly<Record<string, string>> {
  const { cluster, observed } = look(given);
  const situation = situationOf(cluster, observed, NOW);
  return Object.fromEntries(
    rules.flatMap((rule) => {
      const because = rule.forbids(step, situation);
      return because === undefined ? [] : [[rule.name, because]];
    }),
  );
}

const named = (given: Look) => plan(given).steps.map((step) => step.do);
const via = { cluster: look().cluster, pod: 'vectors-0' };
const because = 'of a test';
const points = (shard: number) => ({ collection: 'points', shard });
const drop = (shard: number, at: number): ClusterStep => ({
  do: 'drop-replica',
  because,
  via,
  ...points(shard),
  peer: idOf(at),
});
const move = (shard: number, from: number, to: number): ClusterStep => ({
  do: 'move-replica',
  because,
  via,
  ...points(shard),
  from: idOf(from),
  to: idOf(to),
});
const remove = (at: number): ClusterStep => ({ do: 'remove-peer', because, via, peer: idOf(at), pod: `vectors-${at}` });
const restart = (at: number): ClusterStep => ({ do: 'restart-pod', because, pod: aPod(at) });
const scale = (to: number, given: Look): ClusterStep => {
  const { set } = look(given).observed.children;
  if (!set) throw new Error('there is no StatefulSet');
  return { do: 'scale', because, set, to };
};

/** What each peer is told of the shards. */
const told = (states: Readonly<Record<string, string>>, shards: readonly (readonly number[])[]): Partial<PeerView> => ({
  distributions: { known: true, value: [distributionOf(shards, states)] },
});

const SHARDS = [
  [0, 1],
  [1, 2],
];

/** Two of three pods are there, and members. */
const GROWING: Look = { size: 2, spec: { replicas: 3 }, shards: [[0], [0]], copies: 1 };
const unreadySince = (lastTransitionTime: string): NonNullable<Look['status']> => ({
  peers: [0, 1].map((at) => ({ id: idOf(at), pod: `vectors-${at}`, uri: '', volume: `volume ${at}` })),
  conditions: [{ type: 'Ready', status: 'False', reason: 'OperationInProgress', message: '', lastTransitionTime }],
});

test('the rules are named after what they keep, each once', () => {
  const names = rules.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)+$/);
});

describe('a rule', () => {
  const stopped: Partial<PeerView> = { consensus: { is: 'stopped', because: 'no method set' } };
  const stranger = (ordinal: number): Partial<PeerView> => ({
    id: '77',
    members: new Map([['77', `http://vectors-${ordinal}.vectors-headless.shop:6335/`]]),
    leader: '77',
  });

  test.each<[string, ClusterStep, Look, Look, string]>([
    [
      'a-stopped-consensus-holds-everything',
      restart(2),
      { shards: SHARDS },
      { shards: SHARDS, views: { 0: stopped, 1: stopped, 2: stopped } },
      'consensus has stopped on vectors-0 (no method set)',
    ],
    [
      'there-is-one-cluster',
      restart(2),
      {},
      { views: { 1: stranger(1) }, members: [0, 2] },
      'peer 77 of another cluster',
    ],
    ['nothing-is-decided-blind', remove(2), {}, { views: { 0: { leader: undefined } } }, 'no peer is followed'],
    [
      'every-member-answers',
      move(0, 0, 2),
      { shards: SHARDS },
      { shards: SHARDS, views: { 1: 'silent' } },
      'vectors-1',
    ],
    [
      'the-leader-reaches-every-member',
      remove(2),
      {},
      { views: { 0: { unreached: ['http://vectors-1.vectors-headless.shop:6335/'] } } },
      'sends to http://vectors-1.vectors-headless.shop:6335/ in vain',
    ],
    [
      'a-shard-keeps-a-live-copy',
      drop(0, 0),
      { shards: SHARDS },
      // Both call both copies active; but who holds the other one is dead.
      { shards: SHARDS, views: { 1: 'silent' } },
      'no other live copy of shard 0 of points',
    ],
    [
      'a-copy-is-made-from-a-live-one',
      move(0, 0, 2),
      { shards: SHARDS },
      { shards: SHARDS, views: { 2: told({ '0@0': 'Dead' }, SHARDS) } },
      'not active on',
    ],
    ['a-copy-goes-where-there-is-none', move(0, 0, 2), { shards: SHARDS }, { shards: [[0, 2]] }, 'vectors-2 holds'],
    [
      'a-shard-travels-alone',
      drop(0, 0),
      { shards: SHARDS },
      {
        shards: SHARDS,
        views: {
          1: {
            distributions: {
              known: true,
              value: [{ ...distributionOf(SHARDS), transfers: [{ shard: 0, from: idOf(0), to: idOf(2) }] }],
            },
          },
        },
      },
      'shard 0 of points is on its way',
    ],
    [
      'few-shards-travel-at-once',
      move(0, 0, 2),
      { shards: SHARDS },
      {
        shards: SHARDS,
        views: {
          1: {
            distributions: {
              known: true,
              value: [{ ...distributionOf(SHARDS), transfers: [{ shard: 1, from: idOf(1), to: idOf(0) }] }],
            },
          },
        },
      },
      '1 of 1 are on their way',
    ],
    [
      'shards-move-when-all-peers-are-there',
      move(0, 0, 1),
      { ...GROWING, status: unreadySince('2026-03-01T11:54:00Z') },
      { ...GROWING, status: unreadySince('2026-03-01T11:59:00Z') },
      'vectors-2 is about to join',
    ],
    [
      'a-peer-leaves-empty',
      remove(2),
      { shards: [[0, 1]] },
      { shards: SHARDS },
      'vectors-2 still holds shard 1 of points',
    ],
    [
      'a-pod-leaves-after-its-peer',
      scale(2, {}),
      { members: [0, 1], size: 3, spec: { replicas: 2 } },
      { size: 3, spec: { replicas: 2 } },
      'vectors-2 is a member',
    ],
    [
      'scaling-down-is-wanted',
      remove(2),
      { size: 3, spec: { replicas: 2 } },
      { size: 3, spec: { replicas: 2, scaleDown: { policy: 'Forbid' } } },
      'policy is Forbid',
    ],
    [
      'a-cluster-forms-before-it-grows',
      scale(3, { size: 1 }),
      { size: 1, spec: { replicas: 3 } },
      { size: 1, spec: { replicas: 3 }, views: { 0: 'silent' } },
      'no peer answers',
    ],
    [
      'a-removed-volume-does-not-return',
      scale(3, { size: 2 }),
      { size: 2, spec: { replicas: 3 } },
      {
        size: 2,
        spec: { replicas: 3 },
        claims: [0, 1, 2].map((at) => claimSeen(at, `volume ${at}`, '1Gi')),
      },
      'qdrant-storage-vectors-2 is of a peer that was removed',
    ],
    ['one-pod-at-a-time', restart(2), {}, { pods: { 1: { isReady: false } } }, 'pod vectors-1 is not ready'],
    [
      'a-restart-finds-all-copies',
      restart(2),
      { shards: SHARDS },
      { shards: SHARDS, views: { 1: told({ '0@1': 'Dead' }, SHARDS) } },
      'a copy of shard 0 of points is not active',
    ],
    [
      'one-minor-version-at-a-time',
      {
        do: 'change-image',
        because,
        set: { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'v' } },
        image: 'q:v1.19.0',
      },
      { views: { 0: { version: '1.18.3' }, 1: { version: '1.18.3' }, 2: { version: '1.18.3' } } },
      { views: { 1: { version: '1.17.0' } } },
      'from 1.17.0 to 1.19.0: go through 1.18 first',
    ],
    [
      'a-volume-can-only-grow',
      { do: 'expand-volume', because, claim: claimSeen(0, 'u', '1Gi').claim, size: '2Gi' },
      {},
      { observed: { canExpand: { known: true, value: false } } },
      'does not allow',
    ],
  ])('%s', (name, step, allowed, forbidden, why) => {
    expect(objections(step, allowed)).not.toHaveProperty(name);
    expect(objections(step, forbidden)[name]).toContain(why);
  });

  test('a-pod-without-a-volume-keeps-the-last-copy', () => {
    const { persistence: _, ...spec } = look().cluster.spec;
    const objection = (shards: Look['shards']) => {
      const { cluster, observed } = look({ ...(shards && { shards }) });
      const situation = situationOf({ ...cluster, spec }, observed, NOW);
      const rule = rules.find(({ name }) => name === 'a-pod-without-a-volume-keeps-the-last-copy');
      return rule?.forbids(restart(2), situation);
    };
    expect(objection(SHARDS)).toBeUndefined();
    expect(objection([[2]])).toContain('the only copy of shard 0 of points would go with vectors-2');
  });

  test('a-volume-with-shards-stays', () => {
    const removed = { isVoter: false, leader: undefined, members: new Map([[idOf(2), '']]) };
    const objection = (shards: readonly (readonly number[])[]) => {
      const { cluster, observed } = look({
        members: [0, 1],
        size: 3,
        views: { 2: { ...removed, ...told({}, shards) } },
      });
      const claim = observed.claims[2]?.claim;
      const rule = rules.find(({ name }) => name === 'a-volume-with-shards-stays');
      return claim && rule?.forbids({ do: 'remove-volume', because, claim }, situationOf(cluster, observed, NOW));
    };
    expect(objection([[0, 1]])).toBeUndefined();
    expect(objection([[0, 2]])).toBe('vectors-2 has shards of points');
  });

  test('the-volume-of-a-member-stays', () => {
    const removed = { isVoter: false, members: new Map([[idOf(2), '']]) };
    const { cluster, observed } = look({ size: 3, members: [0, 1], views: { 2: removed } });
    const situation = situationOf(cluster, observed, NOW);
    const rule = rules.find(({ name }) => name === 'the-volume-of-a-member-stays');
    const objection = (at: number) => {
      const claim = observed.claims[at]?.claim;
      return claim && rule?.forbids({ do: 'remove-volume', because, claim }, situation);
    };
    expect(objection(1)).toBe('vectors-1 is a member');
    expect(objection(2)).toBeUndefined();
  });
});

describe('nobody is taken for removed who only lost the others:', () => {
  /** Started over by itself, it knows nobody else; the others know it. */
  const reinit = { 0: { members: new Map([[idOf(0), 'http://vectors-0.vectors-headless.shop:6335/']]) } };

  test('while they follow it', () => {
    const { steps, summary } = plan({ views: reinit, shards: SHARDS });
    expect(steps).toEqual([]);
    expect(summary).toMatchObject({ because: 'vectors-1 counts on vectors-0, which does not know it' });
  });

  test('while nobody leads them', () => {
    const led = { leader: undefined };
    expect(named({ views: { ...reinit, 1: led, 2: led }, shards: SHARDS })).toEqual([]);
  });
});

describe('a peer leaves in this order:', () => {
  const leaving = (more: Look): Look => ({ size: 3, spec: { replicas: 2 }, copies: 1, ...more });

  test('its shards are moved to who has the fewest, one at a time', () => {
    const { steps, held } = plan(leaving({ shards: [[2], [2], [0]] }));
    expect(steps).toMatchObject([{ do: 'move-replica', shard: 0, from: idOf(2), to: idOf(1) }]);
    expect(held.map(({ step, rule }) => [step.do, rule])).toEqual([
      ['remove-peer', 'a-peer-leaves-empty'],
      ['scale', 'a-pod-leaves-after-its-peer'],
    ]);
  });

  test('those that every other has are dropped', () => {
    expect(plan(leaving({ shards: [[0, 1, 2]], copies: 3 })).steps).toMatchObject([
      { do: 'drop-replica', shard: 0, peer: idOf(2) },
    ]);
  });

  test('it is removed once it is empty, by somebody else', () => {
    const steps = plan(leaving({ shards: [[0], [1]] })).steps;
    expect(steps).toMatchObject([{ do: 'remove-peer', peer: idOf(2), via: { pod: 'vectors-0' } }]);
  });

  test('its pod goes once it is no member', () => {
    const removed = { isVoter: false, members: new Map([[idOf(2), '']]), leader: idOf(0) };
    const seen = leaving({ members: [0, 1], views: { 2: removed }, shards: [[0], [1]] });
    expect(plan(seen).steps).toMatchObject([{ do: 'scale', to: 2 }]);
  });

  test('and its volume after its pod', () => {
    const claims = [0, 1, 2].map((at) => claimSeen(at, `volume ${at}`, '1Gi'));
    const { steps } = plan({ size: 2, spec: { replicas: 2 }, claims, shards: [[0], [1]], copies: 1 });
    expect(steps).toMatchObject([{ do: 'remove-volume', claim: { metadata: { name: 'qdrant-storage-vectors-2' } } }]);
  });

  test('the only copy of a shard that is not active is waited for, and the status says so', () => {
    const shards = [[2]];
    const recovering = told({ '0@2': 'Recovery' }, shards);
    const { steps, held } = plan(leaving({ shards, views: { 0: recovering, 1: recovering, 2: recovering } }));
    expect(steps).toEqual([]);
    expect(held[0]).toMatchObject({ step: { do: 'move-replica' }, rule: 'a-copy-is-made-from-a-live-one' });
  });
});

describe('copies are made good:', () => {
  test('one that is missing is made on who has the fewest shards', () => {
    expect(plan({ shards: [[0], [0, 1]] }).steps).toMatchObject([
      { do: 'replicate-shard', shard: 0, from: idOf(0), to: idOf(2) },
    ]);
  });

  test('one too many is dropped from who has the most', () => {
    expect(
      plan({
        shards: [
          [0, 1, 2],
          [0, 1],
        ],
      }).steps,
    ).toMatchObject([{ do: 'drop-replica', shard: 0, peer: idOf(1) }]);
  });

  test('none is dropped that a write needs', () => {
    const factors = (writeConsistency: number) =>
      new Map([['points', { known: true as const, value: { replication: 1, writeConsistency } }]]);
    const surplus = (writeConsistency: number): Look => ({
      shards: [[0, 1]],
      observed: { factors: factors(writeConsistency) },
    });
    expect(named(surplus(1))).toEqual(['drop-replica']);
    expect(named(surplus(2))).toEqual([]);
  });

  describe('by_size, the largest shard that makes peers more alike is moved', () => {
    const spec = { rebalance: { strategy: 'by_size' as const } };
    /** How many points each shard has, and who holds it. */
    const sized = (...shards: readonly (readonly [number, number])[]): Look => {
      const whole = distributionOf(shards.map(([, holder]) => [holder]));
      const replicas = whole.replicas.map((one) => ({ ...one, points: shards[one.shard]?.[0] ?? 0 }));
      const view: Partial<PeerView> = { distributions: { known: true, value: [{ ...whole, replicas }] } };
      return { spec, copies: 1, shards: shards.map(([, holder]) => [holder]), views: { 0: view, 1: view, 2: view } };
    };

    test('if one has twice the points of another', () => {
      expect(plan(sized([40_000, 0], [15_000, 0], [5_000, 1], [20_000, 2])).steps).toMatchObject([
        {
          do: 'move-replica',
          shard: 0,
          from: idOf(0),
          to: idOf(1),
          because: 'vectors-0 has 55000 points, vectors-1 has 5000',
        },
      ]);
    });

    test('not if they are almost alike, or small', () => {
      expect(named(sized([19_000, 0], [10_000, 1], [10_000, 2]))).toEqual([]);
      expect(named(sized([900, 0], [900, 0], [900, 0]))).toEqual([]);
    });

    test('not if it would only change places', () => {
      expect(named(sized([50_000, 0], [0, 1]))).toEqual([]);
    });
  });

  test('shards are moved until nobody has two more than another, and then no more', () => {
    expect(plan({ shards: [[0], [0], [0]], copies: 1 }).steps).toMatchObject([
      { do: 'move-replica', shard: 0, from: idOf(0), to: idOf(1) },
    ]);
    expect(named({ shards: [[0], [0], [1], [2]], copies: 1 })).toEqual([]);
    expect(named({ shards: [[0], [0], [0]], copies: 1, spec: { rebalance: { strategy: 'disabled' } } })).toEqual([]);
  });

  test('a member with another volume than it was seen with is given up, if its shards live elsewhere', () => {
    const status = {
      peers: [0, 1, 2].map((at) => ({
        id: idOf(at),
        pod: `vectors-${at}`,
        uri: '',
        volume: at === 1 ? 'gone' : `volume ${at}`,
      })),
    };
    const seen: Look = {
      shards: SHARDS,
      views: { 1: 'silent' },
      pods: { 1: { isReady: false, isRunning: false } },
      status,
    };
    expect(plan(seen).steps).toMatchObject([{ do: 'drop-replica', shard: 0, peer: idOf(1) }]);
    const last = plan({ ...seen, shards: [[1]] });
    expect(last.steps).toEqual([]);
    expect(last.status).toMatchObject({ qdrantStatus: 'Error', reason: 'DataLossRisk' });
    expect(named({ ...seen, status: look().cluster.status ?? {} })).toEqual([]);
  });
});

describe('pods restart', () => {
  const old = { isOld: true };

  test('one by one from the last, and the leader at the end', () => {
    const restarted = (pods: Look['pods']) => plan({ ...(pods && { pods }) }).steps;
    expect(restarted({ 0: old, 1: old, 2: old })).toMatchObject([
      { do: 'restart-pod', pod: { metadata: { name: 'vectors-2' } } },
    ]);
    expect(restarted({ 0: old })).toMatchObject([{ pod: { metadata: { name: 'vectors-0' } } }]);
  });

  describe('at once', () => {
    const all = { 0: old, 1: old, 2: old, 3: old, 4: old };
    const restarted = (given: Look) =>
      plan({ pods: all, ...given, spec: { replicas: 5, ...given.spec } }).steps.flatMap((step) =>
        step.do === 'restart-pod' ? [step.pod.metadata.name] : [],
      );

    test('as many as the user allows, if every shard keeps a live copy and the others are a majority', () => {
      const two = { updateStrategy: { maxUnavailable: 2 } };
      const apart = [
        [0, 4],
        [1, 3],
        [2, 0],
      ];
      expect(restarted({ spec: two, shards: apart })).toEqual(['vectors-4', 'vectors-3']);
      expect(
        restarted({
          spec: two,
          shards: [
            [3, 4],
            [2, 4],
          ],
        }),
      ).toEqual(['vectors-4', 'vectors-1']);
      expect(restarted({ spec: { updateStrategy: { maxUnavailable: 9 } }, shards: [[0, 1]] })).toEqual([
        'vectors-4',
        'vectors-3',
      ]);
      expect(restarted({ shards: apart })).toEqual(['vectors-4']);
    });

    test('all of them, if nothing has copies and the user allows it', () => {
      const spec = { updateStrategy: { allowConcurrentWhenUnreplicated: true } };
      expect(restarted({ spec, shards: [[0], [4]], copies: 1 })).toHaveLength(5);
      expect(restarted({ spec, shards: [[0, 1], [4]], copies: 1 })).toHaveLength(1);
      expect(restarted({ spec, shards: [[0], [4]], copies: 2 })).toHaveLength(1);
      expect(restarted({ shards: [[0], [4]], copies: 1 })).toHaveLength(1);
    });
  });

  test('if they do not run at all, whatever the others say: nobody has to wait for what can not come', () => {
    const down = { isOld: true, isReady: false, isRunning: false };
    const views = { 0: 'silent', 1: 'silent', 2: 'silent' } as const;
    expect(plan({ pods: { 0: down, 1: down, 2: down }, views }).steps).toMatchObject([{ do: 'restart-pod' }]);
  });
});

test('volumes grow, then the StatefulSet is made anew around its pods, and is not applied before', () => {
  const spec = { persistence: { size: '2Gi' } };
  expect(named({ spec })).toEqual(['expand-volume', 'expand-volume', 'expand-volume']);
  const claims = [0, 1, 2].map((at) => claimSeen(at, `volume ${at}`, '2Gi'));
  const grown = plan({ spec, claims });
  expect(grown.steps).toMatchObject([{ do: 'recreate-set' }]);
  expect(grown.objects.map(({ kind }) => kind)).not.toContain('StatefulSet');
  const { cluster, observed } = look({ spec, claims });
  const without = { ...observed, children: { ...observed.children, set: undefined } };
  const set = planCluster(cluster, without, DEFAULTS, NOW).objects.find(({ kind }) => kind === 'StatefulSet');
  expect(set).toMatchObject({
    spec: { replicas: 3, volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '2Gi' } } } }] },
  });
});

describe('while a restore is under way', () => {
  const restoring = { observed: { restores: ['back'] } };
  const rule = 'a-restore-is-not-disturbed';

  test('no peer leaves, no shard travels and no pod that runs is restarted', () => {
    const given: Look = { shards: SHARDS, ...restoring };
    for (const step of [move(0, 0, 2), remove(2), restart(1), scale(2, given)])
      expect(objections(step, given)[rule]).toBe('QdrantCollectionRestore back is under way; to give it up, delete it');
  });

  test('what it may be waiting for goes on: a pod that is down, more peers, and a member whose volume is lost', () => {
    const down: ClusterStep = {
      do: 'restart-pod',
      because,
      pod: aPod(1, { isOld: false, isEnding: false, isReady: false, isRunning: false }),
    };
    expect(objections(down, restoring)[rule]).toBeUndefined();
    expect(objections(scale(4, restoring), restoring)[rule]).toBeUndefined();
    const lost: Look = {
      shards: SHARDS,
      views: { 2: 'silent' },
      claims: [0, 1, 2].map((at) => claimSeen(at, at === 2 ? 'another' : `volume ${at}`, '1Gi')),
      ...restoring,
    };
    expect(objections(drop(1, 2), lost)[rule]).toBeUndefined();
    expect(objections(drop(1, 1), lost)[rule]).toBeDefined();
  });
});
