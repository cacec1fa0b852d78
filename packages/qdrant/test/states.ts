/** States of a cluster, for tests that hand them to a plan: small ones to start from. */
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
