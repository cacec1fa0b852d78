import type { Service, ServicePort } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { GRPC_PORT, HTTP_PORT, identityOf, namesOf, PEER_PORT, selectorOf } from './identity.ts';

const port = (name: string, number: number): ServicePort => ({
  name,
  port: number,
  targetPort: name,
  protocol: 'TCP',
});

/** For clients. Peers do not talk through it. */
export function clientService(cluster: QdrantCluster): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: identityOf(cluster, namesOf(cluster).service),
    spec: {
      type: cluster.spec.service ?? 'ClusterIP',
      selector: selectorOf(cluster),
      ports: [port('http', HTTP_PORT), port('grpc', GRPC_PORT)],
    },
  };
}

/** Both Services select the same pods: by this one they are scraped, each once. */
export const HEADLESS_LABEL = { 'qdrant.operator/service': 'headless' };

/** The names of pods. Also of those that are not ready: a peer joins before it is, and is asked how it does while it is not. */
export function headlessService(cluster: QdrantCluster): Service {
  const identity = identityOf(cluster, namesOf(cluster).headless);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...identity, labels: { ...identity.labels, ...HEADLESS_LABEL } },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: selectorOf(cluster),
      ports: [port('http', HTTP_PORT), port('grpc', GRPC_PORT), port('p2p', PEER_PORT)],
    },
  };
}
