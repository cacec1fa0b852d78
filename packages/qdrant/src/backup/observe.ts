import { type Cluster, type Known, known, Pod, StatefulSet, unknown, type World } from '@polder/kube';
import type { Bucket, Send } from '@polder/s3';
import {
  type Answer,
  type ClusterInfo,
  type Distribution,
  type Download,
  PeerClient,
  type PeerClientOptions,
} from '../api/index.ts';
import { backupNamed, completeSet, type FoundSet, manifestKey, prefixOf, setsIn, shardFile } from '../archive/index.ts';
import { namesOf, namespaceOf, ordinalOf, QDRANT } from '../cluster/objects/index.ts';
import { QdrantCluster, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import { doorsOf, keyringOf } from '../peers.ts';
import { isLookDue } from './due.ts';
import {
  bucketOf,
  type Credentials,
  credentialsOf,
  IMPATIENT,
  type StorageTrouble,
  storageTroubleOf,
} from './storage.ts';

/** Everything that a plan for backups may depend on. */
export interface Observed {
  readonly credentials: Credentials;
  readonly cluster: QdrantCluster | undefined;
  /** Other backups of the same cluster that are under way. */
  readonly others: readonly QdrantCollectionBackup[];
  /** The restores of the same collection that are under way. */
  readonly restores: readonly string[];
  /** Asked only while there is something to do. */
  readonly storage: StorageSeen;
  /** The peers that run, while a backup is under way or something is left on them. */
  readonly peers: readonly PeerSeen[];
}

export type StorageSeen =
  | { readonly is: 'unseen' }
  | { readonly is: 'trouble'; readonly trouble: StorageTrouble }
  | {
      readonly is: 'seen';
      /** Those of the collection that are ours, oldest first; while one is under way, that one alone. */
      readonly sets: readonly SeenSet[];
    };

export interface SeenSet extends FoundSet {
  /** It was read, and all that it names is there. Read only for what is counted. */
  readonly isComplete: boolean;
  /** Known by what its files carry, where there is no manifest. Read only for what may have to be removed. */
  readonly isOurs: boolean;
}

export interface PeerSeen {
  readonly pod: string;
  readonly view: Known<PeerView>;
}

export interface PeerView extends ClusterInfo {
  /** Undefined: it has no collection of that name, an alias is none. */
  readonly distribution: Distribution | undefined;
}

/** The cluster of Kubernetes, and the ways to the peers in it and to buckets. */
export interface BackupWorld extends World {
  readonly peers: PeerClientOptions & { readonly download: Download };
  readonly storage: Send;
}

export async function observeBackup(backup: QdrantCollectionBackup, world: BackupWorld): Promise<Observed> {
  const { spec, status } = backup;
  const namespace = backup.metadata.namespace ?? 'default';
  const kubernetes = world.cluster;
  const cluster = await kubernetes.get(QdrantCluster, { namespace, name: spec.cluster });
  const backups = await kubernetes.list(QdrantCollectionBackup, namespace);
  const restores = await kubernetes.list(QdrantCollectionRestore, namespace);
  const credentials = await credentialsOf(backup, kubernetes);
  const isBusy = status?.current !== undefined || (status?.leftovers ?? []).length > 0;
  const isLooked = credentials.is === 'given' && isLookDue(backup, credentials.version, world.peers.clock.now());
  return {
    credentials,
    cluster,
    others: backups.filter(
      (one) => one.metadata.uid !== backup.metadata.uid && one.spec.cluster === spec.cluster && one.status?.current,
    ),
    restores: restores
      .filter((one) => one.spec.cluster === spec.cluster && one.spec.collection === spec.collectionName)
      .filter((one) => one.status?.phase === 'InProgress')
      .map(({ metadata }) => metadata.name),
    storage: isLooked
      ? await storageOf(backup, bucketOf(credentials, world, IMPATIENT), world.signal)
      : { is: 'unseen' },
    peers: cluster && isBusy && isLooked ? await peersOf(cluster, spec.collectionName, world) : [],
  };
}

async function storageOf(backup: QdrantCollectionBackup, bucket: Bucket, signal: AbortSignal): Promise<StorageSeen> {
  const { metadata, spec, status } = backup;
  const name = { cluster: spec.cluster, collection: spec.collectionName };
  try {
    if (status?.current && metadata.deletionTimestamp !== undefined) {
      const { id } = status.current;
      const sets = setsIn(backupNamed(id) ?? name, await bucket.list(`${id}/`, signal));
      const seen = sets.map(async (set) => {
        const isOurs = await isWhollyOurs(set, backup, bucket, signal);
        return { ...set, isComplete: set.hasManifest, isOurs };
      });
      return { is: 'seen', sets: await Promise.all(seen) };
    }
    if (status?.current) {
      const sets = setsIn(name, await bucket.list(`${status.current.id}/`, signal));
      return { is: 'seen', sets: sets.map((set) => ({ ...set, isComplete: set.hasManifest, isOurs: true })) };
    }
    const sets = setsIn(name, await bucket.list(prefixOf(name), signal));
    const seen: SeenSet[] = [];
    for (const set of sets) seen.push({ ...set, ...(await ownershipOf(set, backup, bucket, signal)) });
    return { is: 'seen', sets: seen };
  } catch (error) {
    signal.throwIfAborted();
    const trouble = storageTroubleOf(error, backup);
    if (!trouble) throw error;
    return { is: 'trouble', trouble };
  }
}

/** What would be counted or removed is looked into; what is neither costs no request. */
async function ownershipOf(
  set: FoundSet,
  { metadata, spec }: QdrantCollectionBackup,
  bucket: Bucket,
  signal: AbortSignal,
): Promise<Pick<SeenSet, 'isComplete' | 'isOurs'>> {
  const namespace = metadata.namespace ?? 'default';
  if (set.hasManifest) {
    if (spec.snapshots.retentionCount === undefined) return { isComplete: true, isOurs: false };
    const found = await bucket.get(manifestKey(set.id), signal);
    const text = found ? Buffer.concat(await Array.fromAsync(found.body)).toString('utf8') : '';
    const isComplete = completeSet(set, namespace, text) !== undefined;
    return { isComplete, isOurs: isComplete };
  }
  const [shard] = set.shards.keys();
  const file = shard === undefined ? undefined : await bucket.head(`${set.id}/${shardFile(shard)}`, signal);
  return { isComplete: false, isOurs: file?.metadata['namespace'] === namespace };
}

/** By every single file: a cluster of the same name elsewhere may have begun a backup in the same minute. */
async function isWhollyOurs(
  set: FoundSet,
  { metadata }: QdrantCollectionBackup,
  bucket: Bucket,
  signal: AbortSignal,
): Promise<boolean> {
  for (const shard of set.shards.keys()) {
    const file = await bucket.head(`${set.id}/${shardFile(shard)}`, signal);
    if (file && file.metadata['namespace'] !== (metadata.namespace ?? 'default')) return false;
  }
  return true;
}

/** Pods that are about to end are left alone: a snapshot that they make goes with them. */
async function peersOf(cluster: QdrantCluster, collection: string, world: BackupWorld): Promise<readonly PeerSeen[]> {
  const doors = doorsOf(cluster, await keyringOf(cluster, world.cluster));
  const pods = await podsOf(cluster, world.cluster);
  return Promise.all(
    pods.map(async (pod) => {
      const client = new PeerClient(doors.peer(pod), world.peers, world.signal);
      return { pod, view: await viewOf(pod, collection, client) };
    }),
  );
}

async function podsOf(cluster: QdrantCluster, kubernetes: Cluster): Promise<readonly string[]> {
  const set = await kubernetes.get(StatefulSet, { namespace: namespaceOf(cluster), name: namesOf(cluster).set });
  const pods = set ? await kubernetes.owned(Pod, set) : [];
  return pods
    .filter(({ metadata, status }) => {
      const container = status?.containerStatuses?.find(({ name }) => name === QDRANT);
      return metadata.deletionTimestamp === undefined && container?.state?.running !== undefined;
    })
    .map(({ metadata }) => metadata.name)
    .toSorted((a, b) => (ordinalOf(cluster, a) ?? 0) - (ordinalOf(cluster, b) ?? 0));
}

async function viewOf(pod: string, collection: string, client: PeerClient): Promise<Known<PeerView>> {
  const [info, names] = await Promise.all([client.cluster(), client.collections()]);
  if (info.is !== 'ok') return silent(pod, info);
  if (names.is !== 'ok') return silent(pod, names);
  if (!names.value.includes(collection)) return known({ ...info.value, distribution: undefined });
  const distribution = await client.distribution(collection);
  if (distribution.is !== 'ok') return silent(pod, distribution);
  return known({ ...info.value, distribution: distribution.value });
}

const silent = (pod: string, { because }: Exclude<Answer<unknown>, { is: 'ok' }>) =>
  unknown(`${pod} does not tell: ${because}`);

/** Whether an id is still that of the collection: a spec that names another one has begun something else. */
export const isAbout = ({ spec }: QdrantCollectionBackup, id: string): boolean => {
  const name = backupNamed(id);
  return name?.cluster === spec.cluster && name.collection === spec.collectionName;
};
