import {
  type Client,
  ConfigMap,
  type Kind,
  type KubernetesObject,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
} from '@polder/kube';
import type { ClusterUnderTest } from '../../../../tools/blackbox/clusters.ts';
import { AS_USER, clientOf, Place } from '../../../../tools/blackbox/place.ts';
import { type ClusterSpec, kinds, QdrantCluster } from '../../src/kinds/index.ts';
import { NUMBERS } from '../world.ts';
import { Hosts } from './hosts.ts';

/** Of what is made for a cluster. */
export const childKinds: readonly Kind[] = [
  Secret,
  ConfigMap,
  Service,
  NetworkPolicy,
  PodDisruptionBudget,
  StatefulSet,
];

const configFor = ({ address }: Hosts) => `
intervals:
  operator: {leaseDuration: 5s, leaseRenewDeadline: 4s, leaseRetryPeriod: 500ms}
  qdrant: {periodicReconcile: 1s, progressInterval: 200ms, readTimeout: 2s, writeTimeout: 5s}
resolve: {"*:6333": "${address}"}
`;

/** Where clusters are made, with peers in their pods. */
export class ClusterPlace extends Place {
  readonly hosts: Hosts;

  private constructor(cluster: ClusterUnderTest, client: Client, namespace: string, hosts: Hosts) {
    super(cluster, client, namespace, { product: 'qdrant', kinds, config: configFor(hosts) });
    this.hosts = hosts;
  }

  static async open(cluster: ClusterUnderTest, namespace: string): Promise<ClusterPlace> {
    const hosts = await Hosts.start(await clientOf(cluster), namespace);
    return new ClusterPlace(cluster, await clientOf(cluster), namespace, hosts).prepare();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.hosts.stop();
  }

  apply = (name: string, spec: ClusterSpec): Promise<QdrantCluster> =>
    this.client.apply(QdrantCluster, { metadata: this.at(name), spec }, AS_USER);

  change = (name: string, spec: Partial<ClusterSpec>): Promise<QdrantCluster> =>
    this.client.patch(QdrantCluster, this.at(name), { type: 'merge', body: { spec } });

  /** Waits until the cluster was looked at as it is now, and has so many peers of which each is well. */
  settled = (name: string, peers: number): Promise<QdrantCluster> =>
    this.settles(async () => {
      const cluster = await this.client.get(QdrantCluster, this.at(name));
      const { metadata, status } = cluster;
      const isSeen = status?.observedGeneration === metadata.generation && status?.qdrantStatus === 'Healthy';
      const pods = await this.podsOf(name);
      if (isSeen && status.peers?.length === peers && pods.length === peers) return cluster;
      throw new Error(`${name} is not settled: ${JSON.stringify(status)}`);
    });

  /** Lets the volumes of the default class grow. */
  allowExpansion = async (): Promise<void> => {
    const { items } = await this.client.list(StorageClass);
    const isDefault = ({ metadata }: StorageClass) =>
      metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
    for (const { metadata } of items.filter(isDefault)) {
      await this.client.patch(StorageClass, metadata, { type: 'merge', body: { allowVolumeExpansion: true } });
    }
  };

  podsOf = async (name: string): Promise<readonly Pod[]> => (await this.client.list(Pod, this.#select(name))).items;

  claimsOf = async (name: string): Promise<readonly PersistentVolumeClaim[]> =>
    (await this.client.list(PersistentVolumeClaim, this.#select(name))).items;

  /** Everything that was made for the cluster. */
  objectsOf = async (name: string): Promise<readonly KubernetesObject[]> => {
    const lists = await Promise.all(childKinds.map((kind) => this.client.list(kind, this.#select(name))));
    return lists.flatMap(({ items }) => items);
  };

  keyOf = async (name: string): Promise<string> => {
    const { data } = await this.client.get(Secret, this.at(`${name}-apikey`));
    return Buffer.from(data?.['api-key'] ?? '', 'base64').toString();
  };

  /** Asks the cluster, as a user of it would. */
  ask = async <T>(name: string, method: string, path: string, body?: object, key = ''): Promise<T> => {
    const host = `${name}.${this.namespace}`;
    const answer = await this.hosts.ask(host, method, path, body, key);
    const { result }: { readonly result: T } = JSON.parse(answer);
    return result;
  };

  /** A collection with numbered points in it. */
  fill = async (name: string, shards: number, copies: number): Promise<void> => {
    const params = { vectors: { size: 4, distance: 'Dot' }, shard_number: shards, replication_factor: copies };
    await this.ask(name, 'PUT', '/collections/points', params);
    const points = NUMBERS.map((id) => ({ id, vector: [id, 0, 0, 1] }));
    await this.ask(name, 'PUT', '/collections/points/points?wait=true', { points });
  };

  /** The numbers of the points that are there. */
  numbersIn = async (name: string): Promise<readonly number[]> => {
    const path = '/collections/points/points/scroll';
    const { points } = await this.ask<{ points: { id: number }[] }>(name, 'POST', path, { limit: 1_000 });
    return points.map(({ id }) => id).toSorted((a, b) => a - b);
  };

  #select = (name: string) => ({ namespace: this.namespace, labelSelector: `clustername=${name}` });
}
