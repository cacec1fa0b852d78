/** What of other objects a collection decides by. */
import { findCondition } from '@polder/kube';
import { PEERS_AGREE } from '../cluster/plan/health.ts';
import type { QdrantCluster, QdrantCollection } from '../kinds/index.ts';
import { hasReadyPeer } from './plan/admission.ts';

/** Whether it can be told anything, and by whom. What else is done to it meanwhile is its own affair. */
export function newsOfCluster(cluster: QdrantCluster): unknown {
  const { metadata, spec, status } = cluster;
  const { uid, deletionTimestamp } = metadata;
  // Before there is somebody to ask, what they agree on says nothing.
  if (!hasReadyPeer(cluster)) return [uid, deletionTimestamp, spec];
  const agreement = findCondition(status?.conditions, PEERS_AGREE);
  const peers = status?.peers?.map(({ id }) => id);
  return [uid, deletionTimestamp, spec, agreement?.status, agreement?.reason, peers];
}

/** Which aliases it has, and which it gives up. */
export const newsOfRival = ({ metadata, spec, status }: QdrantCollection): unknown => [
  metadata.deletionTimestamp,
  spec.cluster,
  spec.aliases,
  status?.aliases,
];
