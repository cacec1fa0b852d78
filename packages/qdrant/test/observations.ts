/** Whatever an operator may see of a cluster: true, old, half, or nothing at all. */
import fc from 'fast-check';
import type { Distribution } from '../src/api/index.ts';
import { uriOf } from '../src/cluster/objects/index.ts';
import type { Observed, PeerView, PodSeen } from '../src/cluster/observe.ts';
import type { QdrantCluster } from '../src/kinds/index.ts';
import { aCluster, aPod, claimSeen, idOf, NOTHING, setOf } from './states.ts';

export interface Seen {
  readonly cluster: QdrantCluster;
  readonly observed: Observed;
}

const MOST = 5;
const ordinals = Array.from({ length: MOST }, (_, at) => at);
const ids = ordinals.map(idOf);
/** Of whom nobody knows the pod. */
const FOREIGN = '777';

const someOf = <T>(items: readonly T[]) => fc.subarray([...items]);
const mostly = <T>(value: T, otherwise: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 25, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: otherwise });

const state = mostly('Active', fc.constantFrom('Dead', 'Partial', 'Recovery', 'Initializing'));

/** What is so, and each peer's view of it, which may differ in every detail. */
function distribution(collection: string): fc.Arbitrary<Distribution> {
  const replica = fc.record({ shard: fc.integer({ min: 0, max: 2 }), peer: fc.constantFrom(...ids), state });
  const transfer = fc.record({
    shard: fc.integer({ min: 0, max: 2 }),
    from: fc.constantFrom(...ids),
    to: fc.constantFrom(...ids),
  });
  return fc.record({
    collection: fc.constant(collection),
    shardCount: fc.constant(3),
    replicas: fc.uniqueArray(replica, { maxLength: 8, selector: ({ shard, peer }) => `${shard} ${peer}` }),
    transfers: fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(transfer, { maxLength: 2 }) },
    ),
  });
}

const distributions: fc.Arbitrary<readonly Distribution[]> = fc.oneof(
  fc.constant([]),
  fc.tuple(distribution('a')),
  fc.tuple(distribution('a'), distribution('b')),
);

const membersOf = (cluster: QdrantCluster, members: readonly string[]) =>
  new Map(
    members.map(
      (id) => [id, id === FOREIGN ? 'http://elsewhere:6335/' : `${uriOf(cluster, ids.indexOf(id))}/`] as const,
    ),
  );

interface Truth {
  readonly cluster: QdrantCluster;
  readonly members: readonly string[];
  readonly leader: string | undefined;
  readonly distributions: readonly Distribution[];
}

function viewOf(ordinal: number, truth: Truth): fc.Arbitrary<PeerView> {
  const { cluster, members, leader } = truth;
  return fc.record({
    id: mostly(idOf(ordinal), fc.constantFrom('5', FOREIGN)),
    members: mostly(
      membersOf(cluster, members),
      someOf([...ids, FOREIGN]).map((some) => membersOf(cluster, some)),
    ),
    leader: mostly<string | undefined>(leader, fc.constantFrom(undefined, idOf(ordinal), ...members)),
    role: fc.constantFrom('Leader', 'Follower', 'Candidate', undefined),
    commit: mostly(10, fc.integer({ min: 0, max: 500 })),
    pendingOperations: mostly(0, fc.integer({ min: 0, max: 3 })),
    isVoter: mostly(true, fc.constant(false)),
    consensus: mostly<PeerView['consensus']>({ is: 'working' }, fc.constant({ is: 'stopped', because: 'no space' })),
    unreached: mostly<readonly string[]>([], fc.constant([`${uriOf(cluster, 0)}/`])),
    version: mostly('1.19.0', fc.constant('1.18.0')),
    distributions: mostly<PeerView['distributions']>(
      { known: true, value: truth.distributions },
      fc.oneof(
        distributions.map((value) => ({ known: true as const, value })),
        fc.constant({ known: false as const, because: 'timeout' }),
      ),
    ),
  });
}

const podState = fc
  .record({
    isOld: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    isEnding: mostly(false, fc.constant(true)),
    isReady: mostly(true, fc.constant(false)),
    isRunning: mostly(true, fc.constant(false)),
  })
  .map((how) => ({ ...how, isReady: how.isReady && how.isRunning }));

function podSeen(ordinal: number, truth: Truth): fc.Arbitrary<PodSeen> {
  return fc.tuple(podState, viewOf(ordinal, truth), mostly(true, fc.constant(false))).map(([how, value, answers]) => ({
    ordinal,
    pod: aPod(ordinal, how),
    peer: answers && how.isRunning && !how.isEnding ? { known: true, value } : { known: false, because: 'no answer' },
  }));
}

/** A cluster at any moment of its life, and whatever can be seen of it. */
export const anything: fc.Arbitrary<Seen> = fc
  .record({
    replicas: fc.integer({ min: 1, max: MOST }),
    size: fc.integer({ min: 0, max: MOST }),
    hasSet: mostly(true, fc.constant(false)),
    members: someOf(ids),
    distributions,
    suspend: mostly(false, fc.constant(true)),
    image: mostly('qdrant/qdrant:v1.19.0', fc.constantFrom('qdrant/qdrant:v1.18.0', 'qdrant/qdrant:v1.15.0')),
    remembered: someOf(ordinals),
    swapped: someOf(ordinals),
    claims: someOf(ordinals),
    claimSize: mostly('1Gi', fc.constant('2Gi')),
    allAsOne: mostly(true, fc.constant(false)),
  })
  .chain((given) => {
    const members = given.allAsOne ? ids.slice(0, given.size) : given.members;
    const remembered = (given.allAsOne ? ordinals.slice(0, given.size) : given.remembered).map((ordinal) => ({
      id: idOf(ordinal),
      pod: `vectors-${ordinal}`,
      uri: '',
      volume: given.swapped.includes(ordinal) && given.swapped.length === 1 ? 'another' : `volume ${ordinal}`,
    }));
    const cluster = aCluster(
      { replicas: given.replicas, suspend: given.suspend, persistence: { size: given.claimSize } },
      { status: { peers: remembered } },
    );
    const replaced = given.distributions.map((one) => ({
      ...one,
      replicas: one.replicas.filter(({ peer }) => members.includes(peer)),
    }));
    return fc.constantFrom(...(members.length === 0 ? [undefined] : members)).chain((leader) => {
      const truth = { cluster, members, leader, distributions: replaced };
      const pods = fc.tuple(...ordinals.slice(0, given.size).map((ordinal) => podSeen(ordinal, truth)));
      return pods.map((seen): Seen => {
        const set = given.hasSet ? setOf(cluster, given.size, given.image) : undefined;
        const claims = given.allAsOne ? ordinals.slice(0, given.size) : given.claims;
        const factors = { replication: 2, writeConsistency: 1 };
        return {
          cluster,
          observed: {
            children: { ...NOTHING, set },
            pods: seen,
            claims: claims.map((ordinal) => claimSeen(ordinal, `volume ${ordinal}`, '1Gi')),
            canExpand: { known: true, value: true },
            snapshots: { known: true, value: [] },
            monitor: { known: true, value: undefined },
            factors: new Map([
              ['a', { known: true, value: factors }],
              ['b', { known: true, value: { ...factors, replication: 1 } }],
            ]),
          },
        };
      });
    });
  });
