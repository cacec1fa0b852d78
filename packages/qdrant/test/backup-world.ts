import { Storage } from '@polder/doubles/s3';
import { clusterWorld, operator, type State } from '@polder/embedded/simulation';
import { type Client, type Clock, CustomResourceDefinition, crdOf, Secret, sleep, type Transport } from '@polder/kube';
import type { PeerRequest } from '../src/api/index.ts';
import { type Manifest, manifestOf } from '../src/archive/index.ts';
import { DEFAULTS, qdrant } from '../src/index.ts';
import { kinds, QdrantCollectionBackup } from '../src/kinds/index.ts';
import { downloadFrom, sendTo } from './double.ts';
import { Hosts, type QdrantWorld } from './world.ts';

export const BUCKET = 'backups';
export const daily = { namespace: 'default', name: 'daily' };

const SECRET_KEY = 'never to be told';

/** What the operator does to something outside of Kubernetes. */
export interface OutsideWrite {
  /** `POST vectors-0`, `PUT backups/…`. */
  readonly what: string;
  readonly when: 'before' | 'after';
}

export interface BackupsWorld extends QdrantWorld {
  readonly storage: Storage;
  /** What peers were asked for, in order. */
  readonly asked: readonly PeerRequest[];
}

export interface BackupsWorldOptions {
  /** May kill the operator: what it was about to send is not sent then, and what was answered is not heard. */
  readonly onWrite?: (write: OutsideWrite) => void;
  /** The operator works only while it has its lease. */
  readonly isLed?: boolean;
}

/** A cluster with peers in its pods, a storage, and the operator between them. */
export function backupsWorld({ onWrite = () => {}, isLed }: BackupsWorldOptions = {}): BackupsWorld {
  const hosts = new Hosts();
  const asked: PeerRequest[] = [];
  // Whoever looks at the time of the storage does so when there is one.
  const clock = { now: () => hosts.clock.now() };
  const storage = new Storage({ clock, buckets: [BUCKET], keys: { polder: SECRET_KEY }, pageSize: 5 });
  /** The clock is that of the process: once it is dead, nothing goes on here. */
  const outside = async <T>(process: Clock, what: string, isWrite: boolean, send: () => Promise<T>): Promise<T> => {
    if (isWrite) onWrite({ what, when: 'before' });
    await sleep(process, 1);
    try {
      return await send();
    } finally {
      if (isWrite) onWrite({ what, when: 'after' });
      await sleep(process, 1);
    }
  };
  const product = operator(({ clock: process, random }) => [
    qdrant({
      settings: DEFAULTS,
      send: (request, signal) => {
        asked.push(request);
        const what = `${request.method} ${new URL(request.url).hostname.split('.')[0]}`;
        return outside(process, what, request.method !== 'GET', () => sendTo(hosts.qdrant)(request, signal));
      },
      download: (request, signal) => {
        asked.push(request);
        return outside(process, 'download', false, () => downloadFrom(hosts.qdrant)(request, signal));
      },
      storage: (request, signal) => {
        const what = `${request.method} ${new URL(request.url).pathname}`;
        const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
        return outside(process, what, isWrite, () => storage.send(request, signal));
      },
      clock: process,
      newKey: () => `key${Math.floor(random() * 1e9)}`,
      leaseNamespace: isLed ? 'default' : undefined,
    }),
  ]);
  /** The status of backups is where it is remembered how far they are. */
  const watched = (transport: Transport, process: Clock): Transport => ({
    request: (request) => {
      const isWrite = request.method !== 'GET' && request.path.includes('/qdrantcollectionbackups/');
      if (!isWrite) return transport.request(request);
      return outside(process, `${request.method} ${request.path}`, true, () => transport.request(request));
    },
    close: () => transport.close(),
  });
  const world = clusterWorld({
    actors: {
      operator: (process) => product({ ...process, transport: watched(process.transport, process.clock) }),
      hosts: hosts.run,
    },
    prepare: async (client) => {
      for (const kind of kinds) await client.create(CustomResourceDefinition, crdOf(kind));
    },
  });
  return { ...world, hosts, storage, asked };
}

type Snapshots = QdrantCollectionBackup['spec']['snapshots'];

const base64 = (text: string) => Buffer.from(text).toString('base64');

export const applySecret =
  (keys: Readonly<Record<string, string>> = { ACCESS_KEY: 'polder', SECRET_KEY }) =>
  (client: Client) =>
    client.apply(
      Secret,
      {
        metadata: { namespace: 'default', name: 'bucket' },
        data: Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, base64(value)])),
      },
      { fieldManager: 'user', force: true },
    );

/** Of the collection `points`, unless told otherwise. */
export const applyBackup =
  (snapshots: Partial<Snapshots>, name = 'daily', more: { collectionName?: string; request?: number } = {}) =>
  (client: Client) =>
    client.apply(
      QdrantCollectionBackup,
      {
        metadata: { namespace: 'default', name },
        spec: {
          cluster: 'vectors',
          collectionName: 'points',
          ...more,
          snapshots: {
            s3EndpointURL: 'http://s3.storage:9000',
            s3CredentialsSecretName: 'bucket',
            bucketName: BUCKET,
            ...snapshots,
          },
        },
      },
      { fieldManager: 'user', force: true },
    );

export const backupIn = (state: State, name = 'daily') => state.get(QdrantCollectionBackup, { ...daily, name });

export const readyOf = (state: State, name = 'daily') =>
  backupIn(state, name)?.status?.conditions?.find(({ type }) => type === 'Ready');

/** It has been looked at as it is now, and nothing is left to do. */
export const isAtRest =
  (name = 'daily') =>
  (state: State): boolean => {
    const backup = backupIn(state, name);
    return (
      backup?.status?.observedGeneration === backup?.metadata.generation && readyOf(state, name)?.status === 'True'
    );
  };

export const keysIn = ({ storage }: BackupsWorld): readonly string[] =>
  [...storage.objectsIn(BUCKET).keys()].toSorted();

export function manifestAt({ storage }: BackupsWorld, id: string): Manifest | undefined {
  const found = storage.objectsIn(BUCKET).get(`${id}/manifest.json`);
  return found && manifestOf(Buffer.from(found.body).toString('utf8'));
}

/** The ids of the sets that have a manifest, oldest first. */
export const completeIn = (world: BackupsWorld): readonly string[] =>
  keysIn(world).flatMap((key) => /^(.*)\/manifest\.json$/.exec(key)?.[1] ?? []);

/** The snapshots that peers still have on their disks. */
export const snapshotsOnPeers = ({ hosts }: BackupsWorld): readonly string[] =>
  hosts.qdrant.peers.flatMap(({ disk, host }) =>
    [...disk.snapshots.keys()].map((name) => `${host.split('.')[0]} ${name}`),
  );
