import { join } from 'node:path';
import { ConfigMap, NetworkPolicy, PodDisruptionBudget, Secret, Service, StatefulSet } from '@polder/kube';
import { kinds, QdrantCluster, QdrantCollection } from '@polder/qdrant';
import { startServer } from '../operator/pod-server.ts';
import { at, type Subject } from '../operator/subject.ts';

const nameOf = (cluster: number) => `vectors-${cluster}`;

const COLLECTIONS = 2;

const isReady = ({ status }: QdrantCluster | QdrantCollection) =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** Clusters of so many peers, each with a key, a volume, a policy for the network, and two collections. */
export const clusters = (peers: number): Subject => ({
  product: 'qdrant',
  each: 'cluster',
  kinds,
  children: [ConfigMap, Secret, Service, NetworkPolicy, PodDisruptionBudget, StatefulSet],
  env: {},
  prepare: async () => {},
  async create(client, cluster) {
    const spec = { replicas: peers, image: 'qdrant/qdrant:v1.19.0', persistence: { size: '1Gi' } };
    await client.create(QdrantCluster, { metadata: at(nameOf(cluster)), spec: { ...spec, apikey: 'true' } });
    for (let collection = 0; collection < COLLECTIONS; collection++) {
      const metadata = at(`${nameOf(cluster)}-points-${collection}`);
      await client.create(QdrantCollection, { metadata, spec: { cluster: nameOf(cluster), vectorSize: 4 } });
    }
  },
  awaited: [
    { kind: QdrantCluster, times: 1, isReady },
    { kind: QdrantCollection, times: COLLECTIONS, isReady },
  ],
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
  servePods: () => startServer(join(import.meta.dirname, 'peers.ts'), 6333),
});
