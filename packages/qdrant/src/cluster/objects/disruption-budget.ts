import type { PodDisruptionBudget } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { identityOf, namesOf, selectorOf } from './identity.ts';

/** Nodes are drained of one peer after the other. One that does not work anyway holds no drain up. */
export function disruptionBudget(cluster: QdrantCluster): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: identityOf(cluster, namesOf(cluster).budget),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selectorOf(cluster) },
    },
  };
}
