import { join } from 'node:path';
import { ConfigMap, NetworkPolicy, PodDisruptionBudget, Secret, Service, StatefulSet } from '@polder/kube';
import { QdrantCluster } from '@polder/qdrant';
import { startServer } from '../operator/pod-server.ts';
import { at, type Subject } from '../operator/subject.ts';

const nameOf = (cluster: number) => `vectors-${cluster}`;

const isReady = ({ status }: QdrantCluster) => status?.qdrantStatus === 'Healthy';

/** Clusters of so many peers, each with a key, a volume and a policy for the network. */
export const clusters = (peers: number): Subject => ({
  product: 'qdrant',
  each: 'cluster',
  kinds: [QdrantCluster],
  children: [ConfigMap, Secret, Service, NetworkPolicy, PodDisruptionBudget, StatefulSet],
  env: {},
  prepare: async () => {},
  async create(client, cluster) {
    const spec = { replicas: peers, image: 'qdrant/qdrant:v1.19.0', persistence: { size: '1Gi' } };
    await client.create(QdrantCluster, { metadata: at(nameOf(cluster)), spec: { ...spec, apikey: 'true' } });
  },
  awaited: [{ kind: QdrantCluster, times: 1, isReady }],
  drift: {
    what: 'changing a Service',
    async change(client, cluster) {
      const body = { spec: { selector: { component: 'somewhere-else' } } };
      await client.patch(Service, at(nameOf(cluster)), { type: 'merge', body });
    },
    async isUndone(client, cluster) {
      return (await client.get(Service, at(nameOf(cluster)))).spec?.selector?.['component'] === 'qdrant';
    },
  },
  async servePods() {
    const { address, close } = await startServer(join(import.meta.dirname, 'peers.ts'));
    return { resolve: { '*:6333': address }, close };
  },
});
