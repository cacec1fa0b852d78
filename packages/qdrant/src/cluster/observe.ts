import {
  ApiError,
  type Cluster,
  ConfigMap,
  isNotFound,
  type Kind,
  type Known,
  type KubernetesObject,
  known,
  messageOf,
  NetworkPolicy,
  Node,
  type ObjectRef,
  type PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  resourceNameOf,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
  unknown,
  type World,
} from '@polder/kube';
import {
  type Answer,
  type ClusterInfo,
  type Distribution,
  type Factors,
  PeerClient,
  type PeerClientOptions,
} from '../api/index.ts';
import { claimsByCluster, keyIn, podsByCluster, restoresByCluster } from '../indexes.ts';
import type { QdrantCluster, QdrantCollectionRestore } from '../kinds/index.ts';
import { doorsOf, type Keyring, keyringOf } from '../peers.ts';
import { ServiceMonitor, VolumeSnapshot } from './foreign-kinds.ts';
import {
  claimName,
  isMonitored,
  MADE_FOR,
  namesOf,
  namespaceOf,
  ordinalOf,
  QDRANT,
  selectorOf,
  VOLUMES,
} from './objects/index.ts';

/** Everything that a plan for a cluster may depend on. */
export interface Observed {
  readonly children: Children;
  /** Its pods, those that are about to end among them, by their ordinals. */
  readonly pods: readonly PodSeen[];
  /** The volumes of its peers, also of those that are gone. */
  readonly claims: readonly ClaimSeen[];
  /** Whether volumes of its class can grow. */
  readonly canExpand: Known<boolean>;
  /** How the collections should be replicated, by their names. */
  readonly factors: ReadonlyMap<string, Known<Factors>>;
  /** Snapshots of its volumes, if it is to have any; unknown where nobody installed them. */
  readonly snapshots: Known<readonly VolumeSnapshot[]>;
  /** What has its metrics scraped, likewise. */
  readonly monitor: Known<ServiceMonitor | undefined>;
  /** The restores that are under way in it, by their names. */
  readonly restores: readonly string[];
}

/** What there is under the names of a cluster's objects, whoever it belongs to. */
export interface Children extends Keyring {
  readonly set: StatefulSet | undefined;
  readonly config: ConfigMap | undefined;
  readonly service: Service | undefined;
  readonly headless: Service | undefined;
  readonly policy: NetworkPolicy | undefined;
  readonly budget: PodDisruptionBudget | undefined;
  readonly readKey: Secret | undefined;
  /** What signed the certificate, with its key: of certificates that are ours. */
  readonly authority: Secret | undefined;
}

export interface PodSeen {
  readonly ordinal: number;
  readonly pod: Pod;
  /** What the peer in it said, or why it is not known. */
  readonly peer: Known<PeerView>;
  /** Since when its node has not been heard of; undefined if it is. */
  readonly silentSince?: string | undefined;
}

export interface PeerView extends ClusterInfo {
  readonly version: string;
  readonly distributions: Known<readonly Distribution[]>;
}

export interface ClaimSeen {
  readonly ordinal: number;
  readonly volume: 'storage' | 'snapshots';
  readonly claim: PersistentVolumeClaim;
}

/** The cluster of Kubernetes, and the way to the peers in it. */
export interface ClusterWorld extends World {
  readonly peers: PeerClientOptions;
  /** 32 characters that nobody can guess. */
  readonly newKey: () => string;
}

export async function observeCluster(cluster: QdrantCluster, world: ClusterWorld): Promise<Observed> {
  const children = await childrenOf(cluster, world.cluster);
  const doors = doorsOf(cluster, children);
  const clientOf = (pod: string) => new PeerClient(doors.peer(pod), world.peers, world.signal);
  const pods = await podsSeen(cluster, children.set, clientOf, world.cluster);
  return {
    children,
    pods,
    claims: await claimsOf(cluster, world.cluster),
    canExpand: await canExpand(cluster, world.cluster),
    factors: await factorsOf(pods, clientOf),
    snapshots: await snapshotsOf(cluster, world),
    monitor: await monitorOf(cluster, world),
    restores: await restoresOf(cluster, world.cluster),
  };
}

/** Its pods, and what the peer in each of them says. */
export async function podsSeen(
  cluster: QdrantCluster,
  set: StatefulSet | undefined,
  clientOf: ClientOf,
  kubernetes: Cluster,
): Promise<readonly PodSeen[]> {
  const pods = await podsOf(cluster, set, kubernetes);
  return Promise.all(
    pods.map(async ({ ordinal, pod }) => ({
      ordinal,
      pod,
      peer: await peerIn(pod, clientOf),
      silentSince: await silentSince(pod, kubernetes),
    })),
  );
}

async function restoresOf(cluster: QdrantCluster, kubernetes: Cluster): Promise<readonly string[]> {
  const restores: readonly QdrantCollectionRestore[] = await kubernetes.find(restoresByCluster, keyTo(cluster));
  return restores.filter(({ status }) => status?.phase === 'InProgress').map(({ metadata }) => metadata.name);
}

/** Under which the indexes have what belongs to it. */
const keyTo = (cluster: QdrantCluster): string => keyIn(namespaceOf(cluster), cluster.metadata.name);

const isUnowned = ({ metadata }: KubernetesObject): boolean =>
  !metadata.ownerReferences?.some(({ controller }) => controller);

async function childrenOf(cluster: QdrantCluster, kubernetes: Cluster): Promise<Children> {
  const names = namesOf(cluster);
  const at = (name: string): ObjectRef => ({ namespace: namespaceOf(cluster), name });
  return {
    set: await kubernetes.get(StatefulSet, at(names.set)),
    config: await kubernetes.get(ConfigMap, at(names.config)),
    service: await kubernetes.get(Service, at(names.service)),
    headless: await kubernetes.get(Service, at(names.headless)),
    policy: await kubernetes.get(NetworkPolicy, at(names.policy)),
    budget: await kubernetes.get(PodDisruptionBudget, at(names.budget)),
    ...(await keyringOf(cluster, kubernetes)),
    readKey: await kubernetes.get(Secret, at(names.readKey)),
    authority: await kubernetes.get(Secret, at(names.authority)),
  };
}

/**
 * Those of its StatefulSet, and those that were left without one: it is made anew around them. Those of a StatefulSet that is
 * gone are on their way out, and run until then: their volumes are in use.
 */
async function podsOf(
  cluster: QdrantCluster,
  set: StatefulSet | undefined,
  kubernetes: Cluster,
): Promise<readonly Pick<PodSeen, 'ordinal' | 'pod'>[]> {
  const labels = Object.entries(selectorOf(cluster));
  const isLabelled = ({ metadata }: Pod) => labels.every(([key, value]) => metadata.labels?.[key] === value);
  const labelled = (await kubernetes.find(podsByCluster, keyTo(cluster))).filter(isLabelled);
  const pods = set ? [...(await kubernetes.owned(Pod, set)), ...labelled.filter(isUnowned)] : labelled;
  return pods
    .flatMap((pod) => {
      const ordinal = ordinalOf(cluster, pod.metadata.name);
      return ordinal === undefined ? [] : [{ ordinal, pod }];
    })
    .toSorted((a, b) => a.ordinal - b.ordinal);
}

/** A node whose kubelet does not report any more is not ready, and nobody knows what runs on it. */
async function silentSince({ spec }: Pod, kubernetes: Cluster): Promise<string | undefined> {
  const node = spec?.nodeName === undefined ? undefined : await kubernetes.get(Node, { name: spec.nodeName });
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'Unknown' ? ready.lastTransitionTime : undefined;
}

async function claimsOf(cluster: QdrantCluster, kubernetes: Cluster): Promise<readonly ClaimSeen[]> {
  const found = (await kubernetes.find(claimsByCluster, keyTo(cluster))).filter(isUnowned);
  const volumes = ['storage', 'snapshots'] as const;
  return found
    .flatMap((claim) =>
      volumes.flatMap((volume): ClaimSeen[] => {
        const [prefix, { name }] = [`${VOLUMES[volume]}-`, claim.metadata];
        const ordinal = name.startsWith(prefix) ? ordinalOf(cluster, name.slice(prefix.length)) : undefined;
        const isOurs = ordinal !== undefined && name === claimName(cluster, ordinal, VOLUMES[volume]);
        return isOurs ? [{ ordinal, volume, claim }] : [];
      }),
    )
    .toSorted((a, b) => a.ordinal - b.ordinal);
}

async function snapshotsOf(cluster: QdrantCluster, world: ClusterWorld): Promise<Observed['snapshots']> {
  const { volumeSnapshots, persistence } = cluster.spec;
  if (!volumeSnapshots?.enabled || !persistence) return known([]);
  return listed(VolumeSnapshot, cluster, world, 'install the CRDs of the external snapshotter');
}

async function monitorOf(cluster: QdrantCluster, world: ClusterWorld): Promise<Observed['monitor']> {
  if (!cluster.spec.metrics?.serviceMonitor?.enabled && !isMonitored(cluster)) return known(undefined);
  const found = await listed(ServiceMonitor, cluster, world, 'install the CRDs of the Prometheus operator');
  const { monitor } = namesOf(cluster);
  return found.known ? known(found.value.find(({ metadata }) => metadata.name === monitor)) : found;
}

/** Of a kind that may not be installed: whatever is wrong with it is a value, and keeps nothing else from being done. */
async function listed<T extends KubernetesObject>(
  kind: Kind<T>,
  cluster: QdrantCluster,
  { cluster: kubernetes, signal }: ClusterWorld,
  advice: string,
): Promise<Known<readonly T[]>> {
  if (cluster.metadata.deletionTimestamp !== undefined) return known([]);
  try {
    return known(
      await kubernetes.listLive(kind, { namespace: namespaceOf(cluster), labelSelector: MADE_FOR(cluster) }),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return unknown(`nobody installed ${resourceNameOf(kind)}; ${advice}`);
    const because = error instanceof ApiError ? error.explanation : messageOf(error);
    return unknown(`${resourceNameOf(kind)} can not be read: ${because}`);
  }
}

async function canExpand({ spec }: QdrantCluster, kubernetes: Cluster): Promise<Known<boolean>> {
  if (!spec.persistence) return known(false);
  const { storageClassName: name } = spec.persistence;
  const classes = await kubernetes.list(StorageClass);
  const isDefault = ({ metadata }: StorageClass) =>
    metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
  const found = classes.find((one) => (name === undefined ? isDefault(one) : one.metadata.name === name));
  if (found) return known(found.allowVolumeExpansion === true);
  return unknown(name === undefined ? 'there is no default StorageClass' : `there is no StorageClass ${name}`);
}

export type ClientOf = (pod: string) => PeerClient;

async function peerIn(pod: Pod, clientOf: ClientOf): Promise<Known<PeerView>> {
  const { name, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return unknown(`pod ${name} is about to end`);
  const container = pod.status?.containerStatuses?.find((one) => one.name === QDRANT);
  if (container?.state?.running === undefined) return unknown(`pod ${name} does not run`);
  const client = clientOf(name);
  const [info, version] = await Promise.all([client.cluster(), client.version()]);
  if (info.is !== 'ok') return silent(name, info);
  if (version.is !== 'ok') return silent(name, version);
  const distributions = await distributionsOf(name, client);
  return known({ ...info.value, version: version.value, distributions });
}

async function distributionsOf(pod: string, client: PeerClient): Promise<Known<readonly Distribution[]>> {
  const names = await client.collections();
  if (names.is !== 'ok') return silent(pod, names);
  const answers = await Promise.all(names.value.map((name) => client.distribution(name)));
  const found: Distribution[] = [];
  for (const answer of answers) {
    // A collection that was deleted between the two questions is no longer there.
    if (answer.is === 'refused' && answer.status === 404) continue;
    if (answer.is !== 'ok') return silent(pod, answer);
    found.push(answer.value);
  }
  return known(found);
}

const silent = (pod: string, { because }: Exclude<Answer<unknown>, { is: 'ok' }>) =>
  unknown(`${pod} does not tell: ${because}`);

/** The same everywhere, so one is asked. */
async function factorsOf(pods: readonly PodSeen[], clientOf: ClientOf): Promise<Observed['factors']> {
  const first = pods.find(({ peer }) => peer.known && peer.value.distributions.known);
  if (!first?.peer.known || !first.peer.value.distributions.known) return new Map();
  const client = clientOf(first.pod.metadata.name);
  const names = first.peer.value.distributions.value.map(({ collection }) => collection);
  const answers = await Promise.all(names.map((name) => client.factors(name)));
  return new Map(
    names.map((name, at) => {
      const answer = answers[at];
      const isOk = answer?.is === 'ok';
      return [name, isOk ? known(answer.value) : unknown(answer?.because ?? 'it was not asked')] as const;
    }),
  );
}
