import { Cluster, Disk, type Faults } from '@polder/doubles/qdrant';
import { clusterWorld, operator, type Process, type State, type World } from '@polder/embedded/simulation';
import {
  Client,
  type Clock,
  ConfigMap,
  CustomResourceDefinition,
  crdOf,
  type Kind,
  PersistentVolumeClaim,
  Pod,
  type ProductEvents,
  type Registration,
  Secret,
  StatefulSet,
  sleep,
} from '@polder/kube';
import type { PeerRequest } from '../src/api/index.ts';
import { DEFAULTS, qdrant } from '../src/index.ts';
import { type ClusterSpec, type CollectionSpec, kinds, QdrantCluster, QdrantCollection } from '../src/kinds/index.ts';
import { downloadFrom, sendTo } from './double.ts';

export const vectors = { namespace: 'default', name: 'vectors' };
export const IMAGE = 'qdrant/qdrant:v1.19.0';

const HEADLESS = 'vectors-headless.default';
const SERVICE = 'vectors.default';

/** The nodes on which peers run: each pod of a cluster is a peer of the stand-in, and each volume one of its disks. */
export class Hosts {
  #qdrant: Cluster | undefined;
  #clock: Clock | undefined;
  #client: Client | undefined;
  #turn = 0;
  readonly #troubledMs: number;
  readonly #disks = new Map<string, Disk>();
  /** The uid of the claim that has a name now. */
  readonly #claims = new Map<string, string>();
  readonly #pods = new Map<string, { readonly uid: string; readonly killed: AbortController }>();

  constructor(troubledMs = 0) {
    this.#troubledMs = troubledMs;
  }

  get qdrant(): Cluster {
    if (!this.#qdrant) throw new Error('no host is up yet');
    return this.#qdrant;
  }

  get isUp(): boolean {
    return this.#qdrant !== undefined;
  }

  /** Points were written, and everybody was told that they are. */
  isFilled = false;

  /** The numbers of the points that some volume has which is still there. */
  readonly numbersOnVolumes = (): ReadonlySet<number> => {
    const volumes = [...this.#claims.values()].map((uid) => this.#disks.get(uid));
    const shards = this.qdrant.peers.flatMap(({ view }) => {
      const collection = view.collections['points'];
      return collection ? collection.shards.map(({ id }) => shardName(collection, id)) : [];
    });
    const names = [...new Set(shards)];
    return new Set(volumes.flatMap((disk) => names.flatMap((name) => (disk ? numbersIn(disk, name) : []))));
  };

  get clock(): Clock {
    if (!this.#clock) throw new Error('no host is up yet');
    return this.#clock;
  }

  readonly run = async ({ clock, random, server, transport }: Process): Promise<void> => {
    [this.#qdrant, this.#clock] = [new Cluster({ clock, random }), clock];
    const client = new Client({ transport, userAgent: 'hosts', clock });
    this.#client = client;
    server.follow(({ kind, metadata }, is) => {
      const { name, uid = '', deletionTimestamp, labels } = metadata;
      if (kind.kind === 'PersistentVolumeClaim') {
        if (is === 'there') this.#claims.set(name, uid);
        else this.#claims.delete(name);
      }
      if (kind.kind !== 'Pod' || labels?.['component'] !== 'qdrant') return;
      const running = this.#pods.get(name);
      if (running && (is === 'gone' || deletionTimestamp !== undefined || running.uid !== uid)) this.stop(name);
      if (is === 'there' && deletionTimestamp === undefined && !this.#pods.has(name)) {
        const killed = new AbortController();
        this.#pods.set(name, { uid, killed });
        void this.#live(client, name, uid, killed.signal).catch(() => {});
      }
    });
    await this.#trouble(random, this.#troubledMs);
    await new Promise(() => {});
  };

  /** For so long, now and then, a peer crashes, fails its transfers, or what it proposes is lost or comes late. */
  async #trouble(random: () => number, forMs: number): Promise<void> {
    const until = this.clock.now() + forMs;
    while (this.clock.now() < until) {
      await sleep(this.clock, 5_000 + 20_000 * random());
      const names = [...this.#pods.keys()].toSorted();
      const pod = names[Math.floor(random() * names.length)];
      if (pod === undefined) continue;
      if (random() < 0.4) {
        this.crash(pod);
        continue;
      }
      const [faults = {}] = FAULTS.slice(Math.floor(random() * FAULTS.length));
      this.qdrant.setFaults(uriOf(pod), faults);
      await sleep(this.clock, 5_000 + 15_000 * random());
      this.qdrant.setFaults(uriOf(pod), {});
    }
  }

  /** Its process dies, and is started again after a while. */
  crash(pod: string): void {
    const { uid } = this.#pods.get(pod) ?? {};
    if (uid === undefined || !this.#client) return;
    this.stop(pod);
    const killed = new AbortController();
    this.#pods.set(pod, { uid, killed });
    void this.#live(this.#client, pod, uid, killed.signal).catch(() => {});
  }

  stop(pod: string): void {
    this.#pods.get(pod)?.killed.abort();
    this.#pods.delete(pod);
    this.qdrant.peerAt(uriOf(pod))?.stop();
  }

  /** As a kubelet does: what crashes is started again, with what its files say by then. */
  async #live(client: Client, pod: string, uid: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.clock, 250, signal);
      const found = await client.get(Pod, { namespace: 'default', name: pod });
      const config = await client.get(ConfigMap, vectors);
      const settings = {
        uri: uriOf(pod),
        bootstrap: this.#resolve(config.data?.['bootstrap'] ?? '', pod),
        version: /:v(.*)$/.exec(found.spec?.containers[0]?.image ?? '')?.[1] ?? '',
        ...(await keyIn(client)),
      };
      const start = await this.qdrant.start(settings, this.#diskOf(pod, uid), signal);
      if (start.is === 'serving') return;
      await sleep(this.clock, 2_000, signal);
    }
  }

  /** A headless Service is any of its pods. */
  #resolve(uri: string, pod: string): string {
    if (new URL(uri).hostname !== HEADLESS) return uri;
    return this.qdrant.peers.find((peer) => peer.isServing && peer.uri !== `${uriOf(pod)}/`)?.uri ?? uri;
  }

  /** The Service is a peer that serves, each time another one. */
  routed<R extends PeerRequest>(request: R): R {
    const url = new URL(request.url);
    if (url.hostname !== SERVICE) return request;
    const serving = this.qdrant.peers.filter(({ isServing, faults }) => isServing && !faults.refusesClients);
    const peer = serving[this.#turn++ % Math.max(1, serving.length)];
    if (peer) url.hostname = peer.host;
    return { ...request, url: url.href };
  }

  #diskOf(pod: string, uid: string): Disk {
    const volume = this.#claims.get(`qdrant-storage-${pod}`) ?? uid;
    const disk = this.#disks.get(volume) ?? new Disk();
    this.#disks.set(volume, disk);
    return disk;
  }
}

const FAULTS: readonly Faults[] = [
  { failsTransfers: true },
  { consensus: 'lost' },
  { consensus: 'late' },
  { isHung: true },
  { refusesClients: true },
];

/** The key that peers are started with, if there is one. */
async function keyIn(client: Client): Promise<{ readonly apiKey?: string }> {
  const { items } = await client.list(Secret, { namespace: 'default' });
  const key = items.find(({ metadata }) => metadata.name === 'vectors-apikey')?.data?.['api-key'];
  return key === undefined ? {} : { apiKey: Buffer.from(key, 'base64').toString('utf8') };
}

const uriOf = (pod: string) => `http://${pod}.${HEADLESS}:6335`;

export interface QdrantWorld extends World {
  readonly hosts: Hosts;
}

export interface QdrantWorldOptions {
  readonly troubledMs?: number;
  /** Who hears of what happens to the operator. */
  readonly measured?: (controllers: readonly Registration[], clock: Clock) => ProductEvents;
}

/** A cluster of Kubernetes with peers in its pods, and the operator beside it. */
export function qdrantWorld({ troubledMs = 0, measured }: QdrantWorldOptions = {}): QdrantWorld {
  const hosts = new Hosts(troubledMs);
  const product = operator(({ clock, random }) => {
    const made = qdrant({
      settings: DEFAULTS,
      send: (request, signal) => sendTo(hosts.qdrant)(hosts.routed(request), signal),
      download: (request, signal) => downloadFrom(hosts.qdrant)(hosts.routed(request), signal),
      storage: async ({ url }) => Promise.reject(new Error(`nothing is known of ${url}`)),
      clock,
      newKey: () => `key${Math.floor(random() * 1e9)}`,
    });
    return [{ ...made, on: measured?.(made.controllers, clock) }];
  });
  const world = clusterWorld({
    actors: { operator: product, hosts: hosts.run },
    prepare: async (client) => {
      for (const kind of kinds) await client.create(CustomResourceDefinition, crdOf(kind));
    },
  });
  return { ...world, hosts };
}

/** As whoever brings a kind to a cluster installs it: with any fields. */
export function foreignCrd({ group, version, kind, plural }: Kind): CustomResourceDefinition {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, of a test' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

export const aClusterOf = (replicas: number, more: Partial<ClusterSpec> = {}): ClusterSpec => ({
  replicas,
  image: IMAGE,
  persistence: { size: '1Gi' },
  ...more,
});

export const applyCluster = (spec: ClusterSpec) => (client: Client) =>
  client.apply(QdrantCluster, { metadata: vectors, spec }, { fieldManager: 'user', force: true });

export const aCollection = (more: Partial<CollectionSpec> = {}): CollectionSpec => ({
  cluster: 'vectors',
  vectorSize: 4,
  ...more,
});

/** Named `points`, unless told otherwise. */
export const applyCollection =
  (spec: CollectionSpec, name = 'points') =>
  (client: Client) =>
    client.apply(
      QdrantCollection,
      { metadata: { namespace: 'default', name }, spec },
      { fieldManager: 'user', force: true },
    );

export const collectionIn = (state: State, name = 'points') =>
  state.get(QdrantCollection, { namespace: 'default', name });

/** The collection has been looked at as it is now, and is as it should be. */
export const isMade =
  (name = 'points') =>
  (state: State): boolean => {
    const collection = collectionIn(state, name);
    const ready = collection?.status?.conditions?.find(({ type }) => type === 'Ready');
    return collection?.status?.observedGeneration === collection?.metadata.generation && ready?.status === 'True';
  };

export const statusIn = (state: State) => state.get(QdrantCluster, vectors)?.status;
export const setIn = (state: State) => state.get(StatefulSet, vectors);
export const claimsIn = (state: State) => state.list(PersistentVolumeClaim).map(({ metadata }) => metadata.name);

/** The cluster has been looked at as it is now, and everything about it is as it should be. */
export function isSettled(state: State): boolean {
  const cluster = state.get(QdrantCluster, vectors);
  const ready = cluster?.status?.conditions?.find(({ type }) => type === 'Ready');
  return cluster?.status?.observedGeneration === cluster?.metadata.generation && ready?.status === 'True';
}

/** So many peers are members and nobody else, and nothing is left to do. */
export const hasPeers = (peers: number) => (state: State) =>
  isSettled(state) && statusIn(state)?.peers?.length === peers && state.list(Pod).length === peers;

/** Asks whichever peer answers, as a user of the cluster would. */
export async function ask(hosts: Hosts, method: string, path: string, body?: object): Promise<unknown> {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  for (;;) {
    const peer = hosts.qdrant.peers.find(({ isServing }) => isServing);
    try {
      if (!peer) throw new Error('no peer answers');
      const answer = await hosts.qdrant.request(peer.host, { method, path, headers: {}, body: bytes });
      const { result }: { result?: unknown } = JSON.parse(Buffer.from(answer.body).toString('utf8'));
      // 409: what nobody agreed to in time was agreed to after all.
      if (answer.status < 300 || answer.status === 409) return result;
      if (answer.status < 500) throw new Error(`${method} ${path}: ${Buffer.from(answer.body).toString('utf8')}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith(method)) throw error;
    }
    await sleep(hosts.clock, 1_000);
  }
}

export const NUMBERS = Array.from({ length: 60 }, (_, at) => at + 1);

/** A collection with numbered points in it. */
export async function fill(hosts: Hosts, shards: number, copies: number): Promise<void> {
  const params = { vectors: { size: 4, distance: 'Dot' }, shard_number: shards, replication_factor: copies };
  await ask(hosts, 'PUT', '/collections/points', params);
  const points = NUMBERS.map((id) => ({ id, vector: [id, 0, 0, 1], payload: { number: id } }));
  await ask(hosts, 'PUT', '/collections/points/points?wait=true', { points });
  hosts.isFilled = true;
}

/** The numbers of the points that the peers have together, each counted once for every peer that has it. */
export function copiesOfPoints({ qdrant }: Hosts): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const peer of qdrant.peers) {
    const collection = peer.view.collections['points'];
    for (const { id, replicas } of collection?.shards ?? []) {
      if (!collection || replicas[peer.id] !== 'Active') continue;
      for (const point of numbersIn(peer.disk, shardName(collection, id)))
        counts.set(point, (counts.get(point) ?? 0) + 1);
    }
  }
  return counts;
}

type Peer = Cluster['peers'][number];
type Collection = NonNullable<Peer['view']['collections'][string]>;

/** As a disk has it. */
const shardName = ({ serial }: Collection, shard: number) => `${serial}-${shard}`;

const numbersIn = (disk: Disk, shard: string): readonly number[] =>
  [...(disk.points(shard)?.values() ?? [])].map(({ id }) => Number(id));
