import { createHash } from 'node:crypto';
import { type Cluster, type Known, known, messageOf, StatefulSet, unknown, type World } from '@polder/kube';
import type { Bucket, Send } from '@polder/s3';
import {
  type Answer,
  type CollectionShape,
  type Page,
  PeerClient,
  type PeerClientOptions,
  RestoreClient,
} from '../api/index.ts';
import { manifestKey } from '../archive/index.ts';
import { storageTroubleOf } from '../backup/storage.ts';
import { namesOf, namespaceOf } from '../cluster/objects/index.ts';
import { type PodSeen, podsSeen } from '../cluster/observe.ts';
import { sightOf } from '../cluster/plan/sight.ts';
import { QdrantCluster, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import { doorsOf, keyringOf } from '../peers.ts';
import { type BackupSet, setOf } from './backup-set.ts';
import { type BucketFound, bucketFor, openBucket } from './bucket.ts';
import { isOver, recordOf } from './plan/index.ts';

/** Everything that a plan for a restore may depend on. */
export interface Observed {
  readonly cluster: QdrantCluster | undefined;
  /** The cluster's pods, and what the peer in each of them says. */
  readonly pods: readonly PodSeen[];
  readonly bucket: BucketFound;
  readonly set: Known<BackupSet>;
  /** The first file that is not verified, read whole. */
  readonly hashed: Known<Hashed>;
  /** What the collections are like that this is about, of those that are there. */
  readonly shapes: ReadonlyMap<string, Known<CollectionShape>>;
  readonly aliases: Known<ReadonlyMap<string, string>>;
  /** The points that are merged next. */
  readonly page: Known<Page>;
  /** The one that takes a backup of the collection at this moment. */
  readonly backup: string | undefined;
  /** Restores of the same collection that come before this one. */
  readonly others: readonly string[];
}

export interface Hashed {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The cluster of Kubernetes, the way to the peers in it, and to buckets. */
export interface RestoreWorld extends World {
  readonly peers: PeerClientOptions;
  /** The way to any storage. */
  readonly storage: Send;
}

/** A page has to fit into a request, which may have 32 MiB: so many points of the largest vectors do. */
const PAGE = 256;

/** Undefined if there is nothing left to decide: then nobody is asked anything. */
export async function observeRestore(
  restore: QdrantCollectionRestore,
  world: RestoreWorld,
): Promise<Observed | undefined> {
  const { temporary } = restore.status ?? {};
  if (isOver(restore) && !temporary) return undefined;
  const namespace = restore.metadata.namespace ?? 'default';
  const name = temporary?.cluster ?? restore.spec.cluster;
  const cluster = await world.cluster.get(QdrantCluster, { namespace, name });
  return {
    cluster,
    ...(cluster ? await peersOf(restore, cluster, world) : NO_PEERS),
    ...(await archiveOf(restore, world)),
    backup: await backupOf(restore, world.cluster),
    others: await othersOf(restore, world.cluster),
  };
}

type OfPeers = Pick<Observed, 'pods' | 'shapes' | 'aliases' | 'page'>;

const NOT_ASKED = unknown('nobody was asked');
const NO_PEERS: OfPeers = { pods: [], shapes: new Map(), aliases: NOT_ASKED, page: NOT_ASKED };

async function peersOf(
  restore: QdrantCollectionRestore,
  cluster: QdrantCluster,
  world: RestoreWorld,
): Promise<OfPeers> {
  const doors = doorsOf(cluster, await keyringOf(cluster, world.cluster));
  const clientOf = (pod: string) => new PeerClient(doors.peer(pod), world.peers, world.signal);
  const set = await world.cluster.get(StatefulSet, { namespace: namespaceOf(cluster), name: namesOf(cluster).set });
  const pods = await podsSeen(cluster, set, clientOf, world.cluster);
  const { leader } = sightOf(cluster, { pods });
  if (!leader) return { ...NO_PEERS, pods };
  const peer = new RestoreClient(doors.peer(leader.pod), world.peers, world.signal);
  const { distributions } = leader.view;
  const listed = distributions.known ? distributions.value.map(({ collection }) => collection) : [];
  const wanted = [restore.spec.collection, restore.status?.temporary?.collection].filter((one) => one !== undefined);
  const shapes = await Promise.all(
    wanted
      .filter((one) => listed.includes(one))
      .map(async (one) => [one, knownFrom(leader.pod, await peer.shapeOf(one))] as const),
  );
  return {
    pods,
    shapes: new Map(shapes),
    aliases: knownFrom(leader.pod, await peer.aliases()),
    page: await pageOf(restore, leader.pod, peer),
  };
}

/** Only when all files are in the temporary collection: before, it does not have all points. */
async function pageOf({ status }: QdrantCollectionRestore, pod: string, peer: RestoreClient): Promise<Known<Page>> {
  const { temporary, merged, parts = [] } = status ?? {};
  const isRestored = parts.length > 0 && parts.every(({ state }) => state === 'Restored');
  if (!temporary || !isRestored || (merged && merged.next === undefined)) return NOT_ASKED;
  return knownFrom(pod, await peer.scroll(temporary.collection, PAGE, merged?.next));
}

const knownFrom = <T>(pod: string, answer: Answer<T>): Known<T> =>
  answer.is === 'ok' ? known(answer.value) : unknown(`${pod} does not tell: ${answer.because}`);

type OfArchive = Pick<Observed, 'bucket' | 'set' | 'hashed'>;

async function archiveOf(restore: QdrantCollectionRestore, world: RestoreWorld): Promise<OfArchive> {
  const found = await bucketFor(restore, world.cluster);
  if (found.is === 'missing') return { bucket: found, set: NOT_ASKED, hashed: NOT_ASKED };
  const { backupId } = restore.spec;
  try {
    const bucket = await openBucket(found.source, world);
    const set = known(await readSet(bucket, backupId, world.signal));
    const next = recordOf(restore)?.parts?.find(({ state }) => state === 'Found');
    return { bucket: found, set, hashed: next ? await hash(bucket, backupId, next.file, world.signal) : NOT_ASKED };
  } catch (error) {
    world.signal.throwIfAborted();
    const because = storageTroubleOf(error, found.source)?.because ?? messageOf(error);
    return { bucket: found, set: unknown(because), hashed: NOT_ASKED };
  }
}

async function readSet(bucket: Bucket, id: string, signal: AbortSignal): Promise<BackupSet> {
  const found = await bucket.list(`${id}/`, signal);
  const manifest = found.some(({ key }) => key === manifestKey(id))
    ? await bucket.get(manifestKey(id), signal)
    : undefined;
  const text = manifest && Buffer.concat(await Array.fromAsync(manifest.body)).toString('utf8');
  return setOf(id, found, text);
}

async function hash(bucket: Bucket, id: string, file: string, signal: AbortSignal): Promise<Known<Hashed>> {
  const object = await bucket.get(`${id}/${file}`, signal);
  if (!object) return unknown(`${id}/${file} is not there any more`);
  const sum = createHash('sha256');
  let bytes = 0;
  for await (const part of object.body) {
    sum.update(part);
    bytes += part.byteLength;
  }
  return known({ file, bytes, sha256: sum.digest('hex') });
}

async function backupOf({ metadata, spec }: QdrantCollectionRestore, kubernetes: Cluster): Promise<string | undefined> {
  const backups = await kubernetes.list(QdrantCollectionBackup, metadata.namespace);
  const running = backups.find(
    // One that waits, or failed for now, may wait for this restore.
    (one) =>
      one.spec.cluster === spec.cluster &&
      one.spec.collectionName === spec.collection &&
      one.status?.phase === 'InProgress',
  );
  return running?.metadata.name;
}

/** Those under way, before this one has begun; once it has, those that began before it, in an order that all agree on. */
async function othersOf(restore: QdrantCollectionRestore, kubernetes: Cluster): Promise<readonly string[]> {
  const { metadata, spec } = restore;
  const all = await kubernetes.list(QdrantCollectionRestore, metadata.namespace);
  const isBegun = recordOf(restore)?.phase === 'InProgress';
  return all
    .filter((one) => one.metadata.uid !== metadata.uid && one.status?.phase === 'InProgress')
    .filter((one) => one.spec.cluster === spec.cluster && one.spec.collection === spec.collection)
    .filter((one) => !isBegun || orderOf(one) < orderOf(restore))
    .map((one) => one.metadata.name);
}

const orderOf = ({ metadata, status }: QdrantCollectionRestore) => `${status?.startedAt} ${metadata.uid}`;
