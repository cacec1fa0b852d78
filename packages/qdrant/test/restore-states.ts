/** States of a restore, for tests that hand them to its plan: small ones to start from. */
import type { Manifest } from '../src/archive/index.ts';
import type { QdrantCollectionRestore, RestorePart } from '../src/kinds/index.ts';
import type { Observed } from '../src/restore/observe.ts';
import { idOf, type Look, look } from './states.ts';

export const ID = 'vectors/points/2026-01-01-00-00';
export const SUM = 'a'.repeat(64);
/** Two shards of `points`, each on two of three peers. */
export const SHARDS = [
  [0, 1],
  [1, 2],
] as const;

type Spec = QdrantCollectionRestore['spec'];
type Status = NonNullable<QdrantCollectionRestore['status']>;

export const aRestore = (
  status?: Status,
  spec: Partial<Spec> = {},
  metadata: object = {},
): QdrantCollectionRestore => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: 'QdrantCollectionRestore',
  metadata: { namespace: 'shop', name: 'back', uid: 'abcdefgh-1234', generation: 1, ...metadata },
  spec: { cluster: 'vectors', collection: 'points', backupId: ID, ...spec },
  ...(status && { status }),
});

export const part = (shard: number, state: RestorePart['state'], more: Partial<RestorePart> = {}): RestorePart => ({
  file: `shard-${shard}.snapshot`,
  shard,
  bytes: 10,
  sha256: SUM,
  state,
  ...more,
});

export const ofPeer = (ordinal: number, state: RestorePart['state']): RestorePart => ({
  file: `vectors-${ordinal}.snapshot`,
  ordinal,
  bytes: 10,
  ...(state !== 'Found' && { sha256: SUM }),
  state,
});

/** Under way, with its files in these states. */
export const underWay = (...parts: readonly RestorePart[]): Status => ({
  phase: 'InProgress',
  generation: 1,
  startedAt: '2026-03-01T11:00:00Z',
  parts: [...parts],
});

export const aManifest = (more: Partial<Manifest> = {}): Manifest => ({
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
  shards: [0, 1].map((id) => ({ id, file: `shard-${id}.snapshot`, bytes: 10, sha256: SUM })),
  ...more,
});

export const ours = (manifest: Manifest = aManifest()): Observed['set'] => ({
  known: true,
  value: { is: 'ours', manifest, parts: manifest.shards.map(({ id }) => part(id, 'Found')) },
});

export const upstreams = (peers: number): Observed['set'] => ({
  known: true,
  value: { is: 'upstream', parts: Array.from({ length: peers }, (_, ordinal) => ofPeer(ordinal, 'Found')) },
});

const NOT_ASKED = { known: false, because: 'nobody was asked' } as const;
const READY = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;

/** A cluster in which all is well, but for what a test says of it. */
export function seen(more: Partial<Observed> = {}, given: Look = {}): Observed {
  const peers = [0, 1, 2].map((at) => ({ id: idOf(at), pod: `vectors-${at}`, uri: '' }));
  const status = { observedGeneration: 1, peers, conditions: [READY] };
  const { cluster, observed } = look({ shards: SHARDS, status, ...given });
  const shape = { vectors: { size: 4, distance: 'Dot' }, sparseVectors: {}, shardNumber: 2, isCustomSharded: false };
  return {
    cluster,
    pods: observed.pods.map(counted),
    bucket: {
      is: 'found',
      source: {
        metadata: { namespace: 'shop', name: 'daily' },
        spec: { snapshots: { s3EndpointURL: 'http://s3', s3CredentialsSecretName: 's3', bucketName: 'backups' } },
      },
    },
    set: ours(),
    hashed: NOT_ASKED,
    shapes: new Map([['points', { known: true, value: shape }]]),
    aliases: { known: true, value: new Map() },
    page: NOT_ASKED,
    backup: undefined,
    others: [],
    ...more,
  };
}

/** Each peer counts the points of its own copies. */
function counted(one: Observed['pods'][number]): Observed['pods'][number] {
  if (!one.peer.known || !one.peer.value.distributions.known) return one;
  const { value } = one.peer;
  const distributions = one.peer.value.distributions.value.map((distribution) => ({
    ...distribution,
    replicas: distribution.replicas.map((replica) =>
      replica.peer === value.id ? { points: 30, ...replica } : replica,
    ),
  }));
  return { ...one, peer: { known: true, value: { ...value, distributions: { known: true, value: distributions } } } };
}
