import type { ObjectMeta } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';

/** On everything that is made for a cluster: which one. Upstream's, so that what upstream made is found. */
export const NAME_LABEL = 'clustername';

/** By these the pods of a cluster are found. They stand in a selector, which can't be changed: never add to them. */
export function selectorOf({ metadata }: Pick<QdrantCluster, 'metadata'>): Readonly<Record<string, string>> {
  return { [NAME_LABEL]: metadata.name, component: 'qdrant' };
}

export const HTTP_PORT = 6333;
export const GRPC_PORT = 6334;
/** On which peers talk to each other, without any key. */
export const PEER_PORT = 6335;

/** What the objects of a cluster are called. Users and dashboards know these names. */
export function namesOf({ metadata: { name } }: Pick<QdrantCluster, 'metadata'>) {
  return {
    set: name,
    config: name,
    service: name,
    headless: `${name}-headless`,
    budget: name,
    policy: name,
    monitor: name,
    apiKey: `${name}-apikey`,
    readKey: `${name}-read-apikey`,
    certificate: `${name}-server-cert`,
    authority: `${name}-ca`,
  };
}

/** What stands in the head of an object of a cluster. Its owner is put in when it is applied. */
export function identityOf(cluster: QdrantCluster, name: string): ObjectMeta & { readonly namespace: string } {
  const labels = { ...selectorOf(cluster), 'app.kubernetes.io/managed-by': 'qdrant-operator' };
  return { name, namespace: namespaceOf(cluster), labels };
}

/** Selects what was made for a cluster, by the labels of `identityOf`. */
export const MADE_FOR = ({ metadata }: QdrantCluster): string =>
  `${NAME_LABEL}=${metadata.name},app.kubernetes.io/managed-by=qdrant-operator`;

export const namespaceOf = ({ metadata }: Pick<QdrantCluster, 'metadata'>): string => metadata.namespace ?? 'default';

export const podName = (cluster: QdrantCluster, ordinal: number): string => `${cluster.metadata.name}-${ordinal}`;

/** The ordinal of a pod of the cluster, by its exact name: `a-1` is no part of `a-10`. */
export function ordinalOf({ metadata }: Pick<QdrantCluster, 'metadata'>, pod: string): number | undefined {
  if (!pod.startsWith(`${metadata.name}-`)) return undefined;
  const text = pod.slice(metadata.name.length + 1);
  return /^(0|[1-9]\d{0,5})$/.test(text) ? Number(text) : undefined;
}

const STORAGE = 'qdrant-storage';
const SNAPSHOTS = 'qdrant-snapshots';
export const VOLUMES = { storage: STORAGE, snapshots: SNAPSHOTS } as const;

/** The name of the claim of a peer, as a StatefulSet makes it. */
export const claimName = (cluster: QdrantCluster, ordinal: number, volume: string = STORAGE): string =>
  `${volume}-${podName(cluster, ordinal)}`;

const scheme = ({ spec }: QdrantCluster): 'http' | 'https' => (spec.tls?.enabled ? 'https' : 'http');

/** The host under which a peer is reached, also while its pod is not ready. */
export const hostOf = (cluster: QdrantCluster, ordinal: number | string): string =>
  `${typeof ordinal === 'number' ? podName(cluster, ordinal) : ordinal}.${namesOf(cluster).headless}.${namespaceOf(cluster)}`;

/** Where other peers find it. */
export const uriOf = (cluster: QdrantCluster, ordinal: number | string): string =>
  `${scheme(cluster)}://${hostOf(cluster, ordinal)}:${PEER_PORT}`;

/** Where any peer is found, for those that join. No peer has this URI: whoever is told to join here never begins anew. */
export const joinUri = (cluster: QdrantCluster): string =>
  `${scheme(cluster)}://${namesOf(cluster).headless}.${namespaceOf(cluster)}:${PEER_PORT}`;

/** Where clients find it. */
export const urlOf = (cluster: QdrantCluster, ordinal: number | string): string =>
  `${scheme(cluster)}://${hostOf(cluster, ordinal)}:${HTTP_PORT}`;

/** The pod that a URI of a peer leads to, by the first label of its host. */
export function podAt(uri: string): string | undefined {
  return URL.canParse(uri) ? new URL(uri).hostname.split('.')[0] : undefined;
}
