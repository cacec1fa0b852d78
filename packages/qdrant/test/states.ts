/** States of a cluster, for tests that hand them to a plan: small ones to start from. */
import type { PersistentVolumeClaim, Pod, StatefulSet } from '@polder/kube';
import type { Distribution } from '../src/api/index.ts';
import { desired, uriOf } from '../src/cluster/objects/index.ts';
import type { ClaimSeen, Observed, PeerView } from '../src/cluster/observe.ts';
import type { ClusterSpec, QdrantCluster } from '../src/kinds/index.ts';

export const NOW = new Date('2026-03-01T12:00:00Z');
export const CLUSTER_UID = 'cluster-uid';

export const aSpec = (more: Partial<ClusterSpec> = {}): ClusterSpec => ({
  replicas: 3,
  image: 'qdrant/qdrant:v1.19.0',
  persistence: { size: '1Gi' },
  ...more,
});

export function aCluster(
  spec: Partial<ClusterSpec> = {},
  more: Partial<Omit<QdrantCluster, 'metadata' | 'spec'>> & { readonly metadata?: object } = {},
): QdrantCluster {
  const { metadata, ...rest } = more;
  return {
    apiVersion: 'qdrant.operator/v1alpha1',
    kind: 'QdrantCluster',
    metadata: { namespace: 'shop', name: 'vectors', uid: CLUSTER_UID, generation: 1, ...metadata },
    spec: aSpec(spec),
    ...rest,
  };
}

export const idOf = (ordinal: number) => `${ordinal + 1}00000000000`;

export interface PodState {
  readonly isOld: boolean;
  readonly isEnding: boolean;
  readonly isReady: boolean;
  readonly isRunning: boolean;
}

const WELL: PodState = { isOld: false, isEnding: false, isReady: true, isRunning: true };

export function aPod(ordinal: number, how: PodState = WELL): Pod {
  const name = `vectors-${ordinal}`;
  const labels = { clustername: 'vectors', 'controller-revision-hash': how.isOld ? 'old' : 'new' };
  const uid = `pod ${ordinal}`;
  const head = { namespace: 'shop', name, uid, labels };
  const running = { startedAt: '2026-03-01T00:00:00Z' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: how.isEnding ? { ...head, deletionTimestamp: '2026-03-01T11:00:00Z' } : head,
    status: {
      conditions: [{ type: 'Ready', status: how.isReady ? 'True' : 'False' }],
      containerStatuses: [
        {
          name: 'qdrant',
          image: '',
          imageID: '',
          ready: how.isReady,
          restartCount: 0,
          state: how.isRunning ? { running } : {},
        },
      ],
    },
  };
}

export function claimSeen(ordinal: number, uid: string, size: string): ClaimSeen {
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'shop', name: `qdrant-storage-vectors-${ordinal}`, uid },
    spec: { resources: { requests: { storage: size } } },
  };
  return { ordinal, volume: 'storage', claim };
}

export function setOf(cluster: QdrantCluster, replicas: number, image: string): StatefulSet {
  const workload = {
    replicas,
    image,
    bootstrap: '',
    apiKey: undefined,
    readKey: undefined,
    tls: undefined,
    storageSize: '1Gi',
    snapshotsSize: undefined,
  };
  const { set } = desired(cluster, workload);
  const owner = {
    apiVersion: cluster.apiVersion,
    kind: cluster.kind,
    name: 'vectors',
    uid: 'cluster-uid',
    controller: true,
  };
  const metadata = { ...set.metadata, uid: 'set', generation: 1, ownerReferences: [owner] };
  return { ...set, metadata, status: { observedGeneration: 1, replicas, updateRevision: 'new' } };
}

export const NOTHING: Observed['children'] = {
  set: undefined,
  config: undefined,
  service: undefined,
  headless: undefined,
  policy: undefined,
  budget: undefined,
  apiKey: undefined,
  readKey: undefined,
  certificate: undefined,
  authority: undefined,
};

/** A cluster of which all is well, but for what a test says of it. */
export interface Look {
  readonly spec?: Partial<ClusterSpec>;
  readonly metadata?: object;
  readonly status?: QdrantCluster['status'];
  /** How many pods there are; as many as the spec wants, unless told otherwise. */
  readonly size?: number;
  /** Who is a member, by their ordinals: all that there are, unless told otherwise. */
  readonly members?: readonly number[];
  /** Who holds each shard of the collection `points`, by their ordinals. */
  readonly shards?: readonly (readonly number[])[];
  /** How many copies it should have. */
  readonly copies?: number;
  /** What is otherwise about the view of some peers; `silent`: they do not answer. */
  readonly views?: Readonly<Record<number, Partial<PeerView> | 'silent'>>;
  readonly pods?: Readonly<Record<number, Partial<PodState>>>;
  readonly claims?: readonly ClaimSeen[];
  readonly image?: string;
  readonly observed?: Partial<Observed>;
}

export function look(given: Look = {}): { readonly cluster: QdrantCluster; readonly observed: Observed } {
  const { spec = {}, metadata = {}, views = {}, pods = {}, shards = [], copies = 2 } = given;
  const size = given.size ?? spec.replicas ?? 3;
  const all = Array.from({ length: size }, (_, at) => at);
  const members = given.members ?? all;
  const remembered = members.map((at) => ({ id: idOf(at), pod: `vectors-${at}`, uri: '', volume: `volume ${at}` }));
  const cluster = aCluster(spec, { metadata, status: given.status ?? { peers: remembered } });
  const view = (ordinal: number): PeerView => ({
    id: idOf(ordinal),
    members: new Map(members.map((at) => [idOf(at), `${uriOf(cluster, at)}/`])),
    leader: idOf(members[0] ?? 0),
    role: ordinal === members[0] ? 'Leader' : 'Follower',
    commit: 10,
    pendingOperations: 0,
    isVoter: true,
    consensus: { is: 'working' },
    unreached: [],
    version: '1.19.0',
    distributions: { known: true, value: [distributionOf(shards)] },
  });
  const seen = all.map((ordinal) => {
    const other = views[ordinal] ?? {};
    return {
      ordinal,
      pod: aPod(ordinal, { ...WELL, ...pods[ordinal] }),
      peer:
        other === 'silent'
          ? { known: false as const, because: `vectors-${ordinal} does not tell: timeout` }
          : { known: true as const, value: { ...view(ordinal), ...other } },
    };
  });
  const observed: Observed = {
    children: { ...NOTHING, set: setOf(cluster, size, given.image ?? cluster.spec.image) },
    pods: seen,
    claims: given.claims ?? all.map((ordinal) => claimSeen(ordinal, `volume ${ordinal}`, '1Gi')),
    canExpand: { known: true, value: true },
    factors: new Map([['points', { known: true, value: { replication: copies, writeConsistency: 1 } }]]),
    snapshots: { known: true, value: [] },
    monitor: { known: true, value: undefined },
    ...given.observed,
  };
  return { cluster, observed };
}

/** The shards of the collection `points`, all of them active. */
export function distributionOf(
  shards: readonly (readonly number[])[],
  states: Readonly<Record<string, string>> = {},
): Distribution {
  const replicas = shards.flatMap((holders, shard) =>
    holders.map((at) => ({ shard, peer: idOf(at), state: states[`${shard}@${at}`] ?? 'Active' })),
  );
  return { collection: 'points', shardCount: shards.length, replicas, transfers: [] };
}
