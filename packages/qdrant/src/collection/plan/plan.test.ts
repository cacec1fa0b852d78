import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/index.ts';
import type { CollectionSpec, QdrantCluster, QdrantCollection } from '../../kinds/index.ts';
import { DEFAULTS } from '../../settings.ts';
import type { CollectionSeen, Observed, Server } from '../observe.ts';
import { objectionToName } from './admission.ts';
import { type CollectionStep, planCollection } from './index.ts';
import { isTold } from './step.ts';
import { creationOf } from './wanted.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const CLUSTER_UID = 'cluster-uid';
const OURS = { origin: 'Created', clusterUID: CLUSTER_UID } as const;

type Status = NonNullable<QdrantCollection['status']>;

const aCollection = (
  spec: Partial<CollectionSpec> = {},
  status: Status = OURS,
  metadata: object = {},
): QdrantCollection => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: 'QdrantCollection',
  metadata: { namespace: 'shop', name: 'points', uid: 'collection-uid', generation: 1, ...metadata },
  spec: { cluster: 'vectors', vectorSize: 4, ...spec },
  status,
});

const agreement = (reason = 'Agreed') => ({
  type: 'PeersAgree',
  status: reason === 'Agreed' ? ('True' as const) : ('False' as const),
  reason,
  message: `because of ${reason}`,
  lastTransitionTime: '2026-03-01T00:00:00Z',
});

const aCluster = (reason?: string): QdrantCluster => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: 'QdrantCluster',
  metadata: { namespace: 'shop', name: 'vectors', uid: CLUSTER_UID },
  spec: { replicas: 1, image: 'qdrant/qdrant:v1.19.0' },
  status: { conditions: [agreement(reason)], peers: [{ id: '1', pod: 'vectors-0', uri: '' }] },
});

/** As a server tells of a collection that was created from this spec. */
function aServer(
  spec: CollectionSpec | undefined,
  more: Partial<Server> = {},
  indexes: Readonly<Record<string, string>> = {},
): Server {
  const body: JsonObject = spec ? creationOf(spec) : {};
  const collection: CollectionSeen = {
    color: 'green',
    trouble: undefined,
    pointsCount: 3,
    config: { params: body, hnsw_config: { m: 16 } },
    indexes: new Map(Object.entries(indexes)),
    placement: {
      collection: 'points',
      shardCount: 1,
      replicas: [{ shard: 0, peer: '1', state: 'Active' }],
      transfers: [],
      shardKeys: [],
    },
  };
  return {
    pod: 'vectors-0',
    info: {
      id: '1',
      members: new Map([['1', 'http://vectors-0.vectors-headless.shop:6335/']]),
      leader: '1',
      role: 'Leader',
      commit: 1,
      pendingOperations: 0,
      isVoter: true,
      consensus: { is: 'working' },
      unreached: [],
    },
    collections: spec ? ['points'] : [],
    aliases: new Map(),
    collection: spec && collection,
    away: [],
    ...more,
  };
}

const seen = (server: Server, more: Partial<Observed> = {}): Observed => ({
  cluster: aCluster(),
  server: { known: true, value: server },
  former: [],
  siblings: [],
  backup: undefined,
  restores: [],
  ...more,
});

const plan = (collection: QdrantCollection, observed: Observed) => planCollection(collection, observed, DEFAULTS, NOW);
const heldBy = (collection: QdrantCollection, observed: Observed) =>
  plan(collection, observed).held.map(({ rule }) => rule);
const bare = aCollection().spec;

test('while no peer is ready, its cluster is waited for; one that is ready and does not answer is asked again soon', () => {
  const server = { known: false, because: 'silence' } as const;
  const lookAgainWith = (readyReplicas: number) => {
    const cluster = { ...aCluster(), status: { ...aCluster().status, readyReplicas } };
    return plan(aCollection(), seen(aServer(bare), { cluster, server })).lookAgain?.afterMs;
  };
  expect(lookAgainWith(0)).toBe(DEFAULTS.intervals.periodicMs);
  expect(lookAgainWith(1)).toBe(DEFAULTS.intervals.progressMs);
});

test('it is written down that a collection is ours before it is made', () => {
  const observed = seen(aServer(undefined));
  const first = plan(aCollection({}, {}), observed);
  expect(first.steps).toEqual([]);
  expect(first.status).toMatchObject(OURS);
  expect(first.held).toMatchObject([{ step: { do: 'create-collection' }, rule: 'what-is-made-is-written-down-first' }]);
  expect(plan(aCollection({}, first.status), observed).steps).toMatchObject([{ do: 'create-collection' }]);
});

describe('a cluster is told nothing', () => {
  const changes = { aliases: ['current'], config: { hnsw_config: { m: 8 } } };
  const status = { ...OURS, aliases: ['current'] };
  test.each<[string, string, Partial<Server>, QdrantCluster]>([
    ['whose consensus has stopped', 'a-stopped-consensus-is-told-nothing', {}, aCluster('ConsensusStopped')],
    [
      'one of whose peers says that consensus has stopped',
      'a-stopped-consensus-is-told-nothing',
      { info: { ...aServer(bare).info, consensus: { is: 'stopped', because: 'no space' } } },
      aCluster(),
    ],
    ['that is two', 'a-cluster-in-doubt-is-told-nothing', {}, aCluster('SplitBrain')],
    ['whose members nobody knows', 'a-cluster-in-doubt-is-told-nothing', {}, aCluster('PeersUnknown')],
    [
      'in whose name a peer answers that is no member',
      'a-cluster-in-doubt-is-told-nothing',
      { info: { ...aServer(bare).info, id: '2' } },
      aCluster(),
    ],
    [
      'without a leader',
      'a-cluster-in-doubt-is-told-nothing',
      { info: { ...aServer(bare).info, leader: undefined } },
      aCluster(),
    ],
  ])('%s', (_what, rule, server, cluster) => {
    const observed = seen(aServer(bare, server), { cluster });
    expect(new Set(heldBy(aCollection(changes, status), observed))).toEqual(new Set([rule]));
    expect(plan(aCollection(changes, status), observed).steps).toEqual([]);
    const deleted = aCollection(changes, status, { deletionTimestamp: '2026-03-01T11:00:00Z' });
    expect(plan(deleted, observed)).toMatchObject({ steps: [], held: [{ rule }] });
    expect(plan(deleted, observed).isCleanedUp).toBeUndefined();
  });
});

test.each<[string, Partial<Server>, QdrantCluster]>([
  ['does not answer', { away: ['vectors-1'] }, aCluster()],
  ['is away for its cluster', {}, aCluster('PeerAway')],
  [
    'is not reached by the others',
    { info: { ...aServer(bare).info, unreached: ['http://vectors-0.vectors-headless.shop:6335/'] } },
    aCluster(),
  ],
])('nothing is placed on a peer that %s, and all else goes on', (_what, server, cluster) => {
  expect(heldBy(aCollection(), seen(aServer(undefined, server), { cluster }))).toEqual([
    'shards-are-placed-on-live-peers',
  ]);
  const spec = { config: { hnsw_config: { m: 8 } } };
  expect(plan(aCollection(spec), seen(aServer(bare, server), { cluster })).steps).toMatchObject([
    { do: 'update-collection' },
  ]);
});

describe('while its cluster grows, a new collection', () => {
  const growing = (lastTransitionTime: string): QdrantCluster => {
    const unready = {
      type: 'Ready',
      status: 'False' as const,
      reason: 'ReplicasNotReady',
      message: '',
      lastTransitionTime,
    };
    const cluster = aCluster();
    const status = { ...cluster.status, conditions: [agreement(), unready] };
    return { ...cluster, spec: { ...cluster.spec, replicas: 3 }, status };
  };
  const held = seen(aServer(undefined), { cluster: growing('2026-03-01T11:59:00Z') });

  test('waits for the peers to come, and not for ever', () => {
    expect(heldBy(aCollection(), held)).toEqual(['a-new-collection-waits-for-the-peers-to-come']);
    expect(plan(aCollection(), held).lookAgain?.afterMs).toBe(60_000);
    const late = seen(aServer(undefined), { cluster: growing('2026-03-01T11:58:00Z') });
    expect(plan(aCollection(), late).steps).toMatchObject([{ do: 'create-collection' }]);
  });

  test('is said to be ours meanwhile, and one that is there is kept as it should be', () => {
    expect(plan(aCollection({}, {}), held).status).toMatchObject(OURS);
    const spec = { config: { hnsw_config: { m: 8 } } };
    const there = seen(aServer(bare), { cluster: growing('2026-03-01T11:59:00Z') });
    expect(plan(aCollection(spec), there).steps).toMatchObject([{ do: 'update-collection' }]);
  });
});

describe('it is told of a collection', () => {
  const ready = (status: 'True' | 'False', reason: string): Status => ({
    ...OURS,
    conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '2026-03-01T00:00:00Z' }],
  });
  const reasons = (collection: QdrantCollection, observed: Observed) =>
    plan(collection, observed).events?.map(({ type, reason }) => `${type} ${reason}`);
  const silent = seen(aServer(bare), { server: { known: false, because: 'silence' } });

  test('when it is ready, and not of what it waits for until then', () => {
    expect(reasons(aCollection({}, {}), silent)).toEqual([]);
    expect(reasons(aCollection({}, {}), seen(aServer(undefined)))).toEqual([]);
    expect(reasons(aCollection({}, ready('False', 'Held')), seen(aServer(bare)))).toEqual(['Normal Ready']);
    expect(reasons(aCollection({}, ready('True', 'Ready')), seen(aServer(bare)))).toEqual([]);
  });

  test('when it is ready no more', () => {
    expect(reasons(aCollection({}, ready('True', 'Ready')), silent)).toEqual(['Normal ClusterUnreachable']);
  });

  test('when it waits for somebody to act', () => {
    expect(reasons(aCollection({}, {}), seen(aServer(bare), { cluster: undefined }))).toEqual([
      'Normal ClusterMissing',
    ]);
    expect(reasons(aCollection({ vectorSize: 8 }), seen(aServer(bare)))).toEqual(['Warning ImmutableFieldChanged']);
  });
});

test('while it is restored it is left alone', () => {
  const restore = {
    apiVersion: 'qdrant.operator/v1alpha1',
    kind: 'QdrantCollectionRestore',
    metadata: { namespace: 'shop', name: 'r' },
    spec: { collection: 'points', cluster: 'vectors', backupId: 'x' },
    status: { phase: 'InProgress' as const },
  };
  expect(heldBy(aCollection(), seen(aServer(undefined), { restores: [restore] }))).toEqual([
    'a-restore-is-not-disturbed',
  ]);
});

test('what the server took and does not show is not said again at once, but in a while', () => {
  const spec = { config: { vectors: { memory: 'cold' } } };
  const observed = seen(aServer(bare));
  const sent = plan(aCollection(spec), observed);
  expect(sent.steps).toMatchObject([{ do: 'update-collection' }]);
  expect(heldBy(aCollection(spec, sent.status), observed)).toEqual(['what-was-not-taken-is-not-repeated-at-once']);
  expect(plan(aCollection(spec, sent.status), observed).summary).toMatchObject({ reason: 'ChangeIgnored' });
  const later = new Date(NOW.getTime() + DEFAULTS.intervals.periodicMs);
  expect(planCollection(aCollection(spec, sent.status), observed, DEFAULTS, later).steps).toHaveLength(1);
  expect(plan(aCollection(spec, sent.status), seen(aServer(aCollection(spec).spec))).status.lastPatch).toBeUndefined();
});

test('points are counted now and then, and not for every point', () => {
  const status = { ...OURS, pointsCount: 1, pointsCountedAt: '2026-03-01T11:59:00Z', observedGeneration: 1 };
  expect(plan(aCollection({}, status), seen(aServer(bare))).status).toMatchObject({ pointsCount: 1 });
  const old = { ...status, pointsCountedAt: '2026-03-01T11:00:00Z' };
  expect(plan(aCollection({}, old), seen(aServer(bare))).status).toMatchObject({ pointsCount: 3 });
});

test('a shard without any copy is told', () => {
  const server = aServer(bare);
  const placement = { collection: 'points', shardCount: 2, replicas: [], transfers: [], shardKeys: [] };
  const observed = seen({ ...server, collection: server.collection && { ...server.collection, placement } });
  expect(plan(aCollection(), observed).summary).toMatchObject({ is: 'stalled', reason: 'DataLossRisk' });
});

describe('a name', () => {
  test.each(['.', '..', 'a/b', 'a:b', 'a?b', 'a*b', 'a|b', '<', '>', '"', '\\', '\u001f', 'n'.repeat(256), ''])(
    'is never sent if the server or its disk refuses it: %j',
    (name) => {
      expect(objectionToName(name)).toBeDefined();
      const collection = aCollection({}, OURS, { name });
      expect(plan(collection, seen(aServer(undefined)))).toMatchObject({
        steps: [],
        status: { reason: 'InvalidSpec' },
      });
      expect(plan(aCollection({ aliases: [name] }), seen(aServer(bare))).steps).toEqual([]);
    },
  );
  test.each(['points', 'a b', 'a.b', 'ä+B'])('may be anything else: %j', (name) => {
    expect(objectionToName(name)).toBeUndefined();
  });
});

test.each<[Partial<CollectionSpec>, string]>([
  [{ cluster: ' ' }, 'spec.cluster is " "; name a QdrantCluster'],
  [{ vectorSize: 0 }, 'spec.vectorSize is 0; it must be at least 1'],
  [{ shardNumber: 0 }, 'spec.shardNumber is 0; it must be at least 1'],
  [{ replicationFactor: -2 }, 'spec.replicationFactor is -2; it must be at least 1'],
  [{ config: { vectors: { image: { size: 0 } } } }, 'spec.config.vectors.image.size is 0; it must be at least 1'],
  [{ config: { replication_factor: 0 } }, 'spec.config.replication_factor is 0; it must be at least 1'],
  [{ aliases: ['points'] }, 'spec.aliases: points is the name of the collection itself'],
  [
    { shardKeys: ['a'], config: { sharding_method: 'auto' } },
    'spec.config.sharding_method is "auto"; with spec.shardKeys it must be "custom"',
  ],
])('a spec that can not be is refused with the field, its value and the bound: %j', (spec, because) => {
  const refused = plan(aCollection(spec), seen(aServer(bare)));
  expect(refused).toMatchObject({ steps: [], summary: { is: 'stalled', reason: 'InvalidSpec', because } });
  expect(refused.lookAgain).toBeUndefined();
});

const spec = fc.record({
  vectorSize: fc.constantFrom(4, 8),
  replicationFactor: fc.constantFrom(1, 2),
  aliases: fc.uniqueArray(fc.constantFrom('a', 'b', 'other', '.'), { maxLength: 3 }),
  payloadIndexes: fc.uniqueArray(
    fc.record({ field: fc.constantFrom('x', 'y'), type: fc.constantFrom('keyword' as const, 'text' as const) }),
    { maxLength: 2, selector: ({ field }) => field },
  ),
  deletionPolicy: fc.constantFrom('Retain' as const, 'Delete' as const),
});
const status = fc.constantFrom<Status>(
  {},
  OURS,
  { ...OURS, clusterUID: 'another' },
  { ...OURS, cleanupPhase: 'Completed' },
  {
    ...OURS,
    aliases: ['a', 'b'],
    payloadIndexes: [{ field: 'x', type: 'keyword' }],
  },
);
const reason = fc.constantFrom(
  'Agreed',
  'Agreed',
  'Agreed',
  'PeerAway',
  'PeersUnknown',
  'SplitBrain',
  'ConsensusStopped',
);

test('whatever is seen: nothing of others is touched, no name stops a cluster, and aliases are changed by one request', () => {
  fc.assert(
    fc.property(
      spec,
      spec,
      status,
      reason,
      fc.boolean(),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('points', 'other')),
      fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('keyword', 'text')),
      fc.boolean(),
      (wanted, there, status, reason, isThere, aliases, indexes, isDeleted) => {
        const head = isDeleted ? { deletionTimestamp: '2026-03-01T11:00:00Z' } : {};
        const collection = aCollection(wanted, status, head);
        const known = {
          aliases: new Map(Object.entries(aliases)),
          collections: ['other', ...(isThere ? ['points'] : [])],
        };
        const other = aCollection({ aliases: ['b'] }, OURS, { name: 'other', uid: 'other' });
        const server = aServer(isThere ? { ...bare, ...there } : undefined, known, indexes);
        const { steps, held } = plan(collection, seen(server, { cluster: aCluster(reason), siblings: [other] }));
        expect(held.every(({ because }) => because !== '')).toBe(true);
        const isOurs = status.origin !== undefined && status.clusterUID === CLUSTER_UID;
        for (const step of steps.filter(isTold)) {
          expect(isOurs).toBe(true);
          expect(['Agreed', 'PeerAway']).toContain(reason);
          checkStep(step, { wanted, aliases, status });
        }
        expect(steps.filter((step) => step.do === 'change-aliases').length).toBeLessThanOrEqual(1);
        expect(steps.some((step) => step.do === 'delete-collection')).toBe(
          isDeleted &&
            isOurs &&
            wanted.deletionPolicy === 'Delete' &&
            ['Agreed', 'PeerAway'].includes(reason) &&
            !(status.cleanupPhase === 'Completed' && !isThere),
        );
      },
    ),
    { numRuns: 1_000 },
  );
});

interface Case {
  readonly wanted: { readonly aliases: readonly string[]; readonly deletionPolicy: string };
  readonly aliases: Readonly<Record<string, string>>;
  readonly status: Status;
}

function checkStep(step: CollectionStep, { wanted, aliases, status }: Case): void {
  if (step.do === 'delete-index') expect(status.payloadIndexes?.map(({ field }) => field)).toContain(step.field);
  if (step.do !== 'change-aliases') return;
  for (const action of step.actions) {
    expect(['.', 'other']).not.toContain(action.alias);
    // `b` is the other's by its own spec, and `a` points to it by somebody's hand.
    if (action.is === 'create') expect(aliases[action.alias]).toBeUndefined();
    else expect([status.aliases?.includes(action.alias), wanted.aliases.includes(action.alias)]).toEqual([true, false]);
  }
}
