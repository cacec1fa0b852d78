/** What should exist for a cluster, one file for each object: pure, the same workload gives the same objects. */
import type { KubernetesObject, StatefulSet } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { apiKeySecret } from './api-key-secret.ts';
import { configMap } from './config-map.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { namesOf } from './identity.ts';
import { networkPolicy } from './network-policy.ts';
import { clientService, headlessService } from './services.ts';
import { statefulSet } from './stateful-set.ts';
import type { Workload } from './workload.ts';

export { apiKeySecret, decoded, encode, KEY, NEXT_KEY, PREVIOUS_KEY } from './api-key-secret.ts';
export {
  AUTHORITY,
  BUNDLE,
  CERTIFICATE,
  CERTIFICATE_KEY,
  type CertificateSecrets,
  certificateSecrets,
} from './certificate-secrets.ts';
export { BOOTSTRAP } from './config-map.ts';
export {
  claimName,
  HTTP_PORT,
  hostOf,
  identityOf,
  joinUri,
  MADE_FOR,
  NAME_LABEL,
  namesOf,
  namespaceOf,
  ordinalOf,
  podAt,
  podName,
  selectorOf,
  uriOf,
  urlOf,
  VOLUMES,
} from './identity.ts';
export { isMonitored, MONITORED, serviceMonitor } from './service-monitor.ts';
export { clientService, headlessService } from './services.ts';
export {
  certificateHosts,
  ENDS_ANNOTATION,
  HASH_ANNOTATION,
  peerHash,
  QDRANT,
  TRUST_ANNOTATION,
} from './stateful-set.ts';
export { type SnapshotSet, setsIn, stampOf, volumeSnapshot } from './volume-snapshot.ts';
export type { ApiKey, Certificates, Workload } from './workload.ts';

export interface Desired {
  readonly set: StatefulSet;
  /** In the order in which they are applied: the StatefulSet comes last, so that its pods find all that they need. */
  readonly objects: readonly KubernetesObject[];
}

export function desired(cluster: QdrantCluster, workload: Workload): Desired {
  const { apiKey, readKey } = workload;
  const names = namesOf(cluster);
  const set = statefulSet(cluster, workload);
  const objects = [
    ...(apiKey?.isGiven ? [apiKeySecret(cluster, names.apiKey, apiKey)] : []),
    ...(readKey?.isGiven ? [apiKeySecret(cluster, names.readKey, readKey)] : []),
    configMap(cluster, workload),
    headlessService(cluster),
    clientService(cluster),
    ...(wantsPolicy(cluster) ? [networkPolicy(cluster)] : []),
    ...(wantsBudget(cluster) ? [disruptionBudget(cluster)] : []),
    set,
  ];
  return { set, objects };
}

export const wantsPolicy = ({ spec }: QdrantCluster): boolean => spec.networkPolicy?.enabled !== false;

/** With one peer, a budget would keep its node from ever being drained, or protect nothing. */
export const wantsBudget = ({ spec }: QdrantCluster): boolean =>
  spec.replicas > 1 && spec.podDisruptionBudget?.enabled !== false;
