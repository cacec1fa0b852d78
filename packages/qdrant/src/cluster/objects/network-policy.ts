import type { NetworkPolicy } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { GRPC_PORT, HTTP_PORT, identityOf, namesOf, PEER_PORT, selectorOf } from './identity.ts';

const tcp = (port: number) => ({ protocol: 'TCP', port }) as const;

/** Whoever reaches the port of peers can change the cluster without a key: only peers do. What they send is not restricted. */
export function networkPolicy(cluster: QdrantCluster): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: identityOf(cluster, namesOf(cluster).policy),
    spec: {
      podSelector: { matchLabels: selectorOf(cluster) },
      policyTypes: ['Ingress'],
      ingress: [
        { ports: [tcp(HTTP_PORT), tcp(GRPC_PORT)] },
        // Shards travel over HTTP if they are sent as snapshots; the rule above lets those through.
        { from: [{ podSelector: { matchLabels: selectorOf(cluster) } }], ports: [tcp(PEER_PORT)] },
      ],
    },
  };
}
