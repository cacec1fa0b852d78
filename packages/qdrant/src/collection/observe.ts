import { type Cluster, type Known, known, unknown, type World } from '@polder/kube';
import {
  type Answer,
  type ClusterInfo,
  type CollectionInfo,
  CollectionsClient,
  PeerClient,
  type PeerClientOptions,
  type Placement,
} from '../api/index.ts';
import { ordinalOf, podAt } from '../cluster/objects/index.ts';
import { collectionsByCluster, keyIn, restoresByCluster } from '../indexes.ts';
import {
  QdrantCluster,
  type QdrantCollection,
  QdrantCollectionBackup,
  QdrantCollectionRestore,
} from '../kinds/index.ts';
import { type Doors, doorsOf, keyringOf } from '../peers.ts';
import { hasReadyPeer, problemOf } from './plan/admission.ts';
import { restoreName } from './plan/snapshots.ts';

/** Everything that a plan for a collection may depend on. */
export interface Observed {
  readonly cluster: QdrantCluster | undefined;
  /** What the cluster says of the collection, or why it is not known. */
  readonly server: Known<Server>;
  /** Clusters in which the collection was ours before the spec named another one. */
  readonly former: readonly Former[];
  /** Other collections that are declared in the same cluster. */
  readonly siblings: readonly QdrantCollection[];
  /** What there is under the name of its backups, whoever it belongs to. */
  readonly backup: QdrantCollectionBackup | undefined;
  /** Restores of the collection, whoever asked for them. */
  readonly restores: readonly QdrantCollectionRestore[];
}

export interface Former {
  readonly cluster: string;
  readonly clusterUID: string;
  /** Whether it still has a collection of that name. */
  readonly isThere: Known<boolean>;
}

/** The cluster, in the eyes of one peer. */
export interface Server {
  /** Who was asked. Steps go through the same door. */
  readonly pod: string;
  readonly info: ClusterInfo;
  /** The names of all collections. */
  readonly collections: readonly string[];
  /** What all aliases point to. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly collection: CollectionSeen | undefined;
  /** Members that do not answer for themselves; asked only if something is about to be placed on them. */
  readonly away: readonly string[];
}

export interface CollectionSeen extends CollectionInfo {
  readonly placement: Placement;
}

/** The cluster of Kubernetes, and the way to the peers in it. */
export interface CollectionWorld extends World {
  readonly peers: PeerClientOptions;
}

export async function observeCollection(collection: QdrantCollection, world: CollectionWorld): Promise<Observed> {
  const { cluster: kubernetes } = world;
  const { namespace, name } = collection.metadata;
  const { cluster: clusterName } = collection.spec;
  const cluster = await kubernetes.get(QdrantCluster, { namespace, name: clusterName });
  const all = await kubernetes.find(collectionsByCluster, keyIn(namespace, clusterName));
  return {
    cluster,
    server: await serverOf(collection, cluster, world),
    former: await formerOf(collection, cluster, world),
    siblings: all.filter(({ metadata }) => metadata.name !== name),
    backup: await kubernetes.get(QdrantCollectionBackup, { namespace, name }),
    restores: await restoresOf(collection, kubernetes),
  };
}

/** Those of the collection, those that it asked for, and what has the name of the one that it asks for now. */
async function restoresOf(
  collection: QdrantCollection,
  kubernetes: Cluster,
): Promise<readonly QdrantCollectionRestore[]> {
  const { namespace, name } = collection.metadata;
  const inCluster = await kubernetes.find(restoresByCluster, keyIn(namespace, collection.spec.cluster));
  const asked = restoreName(collection);
  const named =
    asked === undefined ? undefined : await kubernetes.get(QdrantCollectionRestore, { namespace, name: asked });
  const all = [
    ...inCluster.filter(({ spec }) => spec.collection === name),
    ...(named ? [named] : []),
    ...(await kubernetes.owned(QdrantCollectionRestore, collection)),
  ];
  return [...new Set(all)];
}

/** By their uids: what was made anew under the name of one never had the collection. */
async function formerOf(
  { metadata, spec, status }: QdrantCollection,
  cluster: QdrantCluster | undefined,
  world: CollectionWorld,
): Promise<readonly Former[]> {
  const uids = new Set([...(status?.leftBehind ?? []).map(({ clusterUID }) => clusterUID), status?.clusterUID]);
  uids.delete(cluster?.metadata.uid);
  uids.delete(undefined);
  const all = uids.size > 0 ? await world.cluster.list(QdrantCluster, metadata.namespace) : [];
  const former = all.filter(
    ({ metadata: { uid, name, deletionTimestamp } }) =>
      uids.has(uid) && name !== spec.cluster && deletionTimestamp === undefined,
  );
  return Promise.all(
    former.map(async (cluster) => ({
      cluster: cluster.metadata.name,
      clusterUID: cluster.metadata.uid ?? '',
      isThere: await isIn(metadata.name, cluster, world),
    })),
  );
}

async function isIn(name: string, cluster: QdrantCluster, world: CollectionWorld): Promise<Known<boolean>> {
  const absence = absenceOf(cluster);
  if (absence !== undefined) return unknown(absence);
  const { cluster: door } = doorsOf(cluster, await keyringOf(cluster, world.cluster));
  const names = await new PeerClient(door, world.peers, world.signal).collections();
  return names.is === 'ok' ? known(names.value.includes(name)) : silent(names);
}

/** Why nobody can be asked: to find out by asking takes as long as a question may take. */
function absenceOf(cluster: QdrantCluster): string | undefined {
  const { name, deletionTimestamp } = cluster.metadata;
  if (deletionTimestamp !== undefined) return `QdrantCluster ${name} is being deleted`;
  if (cluster.spec.suspend) return `QdrantCluster ${name} is suspended`;
  return hasReadyPeer(cluster) ? undefined : `no peer of QdrantCluster ${name} is ready`;
}

async function serverOf(
  collection: QdrantCollection,
  cluster: QdrantCluster | undefined,
  world: CollectionWorld,
): Promise<Known<Server>> {
  // What nobody may be told about is not asked about either. What was made before its spec became so can still be deleted.
  const isEnding = collection.metadata.deletionTimestamp !== undefined && collection.status?.origin !== undefined;
  if (!isEnding && problemOf(collection) !== undefined) return unknown('its spec is invalid');
  if (!cluster) return unknown(`there is no QdrantCluster ${collection.spec.cluster}`);
  const absence = absenceOf(cluster);
  if (absence !== undefined) return unknown(absence);
  const doors = doorsOf(cluster, await keyringOf(cluster, world.cluster));
  // The Service picks a peer that is ready; all else of the pass is asked of, and told to, that one by its own name. Peers
  // are up to half a second behind each other: answers of several would contradict each other, and what one was told just
  // now another would not know.
  const first = await new PeerClient(doors.cluster, world.peers, world.signal).cluster();
  if (first.is !== 'ok') return silent(first);
  const pod = podAt(first.value.members.get(first.value.id) ?? '');
  if (pod === undefined || ordinalOf(cluster, pod) === undefined) {
    return unknown(`peer ${first.value.id} answers for the cluster, and is in none of its pods`);
  }
  return tellingPeer(collection, cluster, pod, doors, world);
}

async function tellingPeer(
  collection: QdrantCollection,
  cluster: QdrantCluster,
  pod: string,
  doors: Doors,
  { peers, signal }: CollectionWorld,
): Promise<Known<Server>> {
  const { name } = collection.metadata;
  const peer = new PeerClient(doors.peer(pod), peers, signal);
  const [info, collections] = [await peer.cluster(), await peer.collections()];
  if (info.is !== 'ok') return silent(info);
  if (collections.is !== 'ok') return silent(collections);
  const client = new CollectionsClient(doors.peer(pod), peers, signal);
  const aliases = await client.aliases();
  if (aliases.is !== 'ok') return silent(aliases);
  const told = { pod, info: info.value, collections: collections.value, aliases: aliases.value };
  const seen = collections.value.includes(name) ? await collectionSeen(name, client) : known(undefined);
  if (!seen.known) return seen;
  const { shardKeys = [] } = collection.spec;
  const isPlacing = !seen.value || shardKeys.some((key) => !seen.value?.placement.shardKeys.includes(key));
  const askPeer = (of: string) => new PeerClient(doors.peer(of), peers, signal).cluster();
  const away = isPlacing ? await silentMembers(info.value, cluster, askPeer) : [];
  return known({ ...told, collection: seen.value, away });
}

async function collectionSeen(name: string, client: CollectionsClient): Promise<Known<CollectionSeen | undefined>> {
  const [info, placement] = [await client.collection(name), await client.placement(name)];
  // Deleted between two questions.
  if ([info, placement].some((answer) => answer.is === 'refused' && answer.status === 404)) return known(undefined);
  if (info.is !== 'ok') return silent(info);
  if (placement.is !== 'ok') return silent(placement);
  return known({ ...info.value, placement: placement.value });
}

/** A peer that died is a member, and active, in the eyes of all others: only its own word counts. */
async function silentMembers(
  { members }: ClusterInfo,
  cluster: QdrantCluster,
  ask: (pod: string) => Promise<Answer<ClusterInfo>>,
): Promise<readonly string[]> {
  const asked = await Promise.all(
    [...members].map(async ([id, uri]) => {
      const pod = podAt(uri);
      const isOurs = pod !== undefined && ordinalOf(cluster, pod) !== undefined;
      const answer = isOurs ? await ask(pod) : undefined;
      const isThere = answer?.is === 'ok' && answer.value.id === id && answer.value.consensus.is === 'working';
      return isThere ? [] : [pod ?? uri];
    }),
  );
  return asked.flat();
}

const silent = ({ because }: Exclude<Answer<unknown>, { is: 'ok' }>) =>
  unknown(`the cluster does not tell: ${because}`);
