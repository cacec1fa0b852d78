/** Backups as they lie in a bucket, made by hand: of ours, and of upstream's. */
import { createHash } from 'node:crypto';
import { type Client, Secret } from '@polder/kube';
import { Bucket } from '@polder/s3';
import { type Manifest, manifestKey, type ShardFile, shardFile } from '../src/archive/index.ts';
import { QdrantCollectionBackup, QdrantCollectionRestore } from '../src/kinds/index.ts';
import type { Hosts } from './world.ts';

export const ID = 'vectors/points/2026-01-01-00-00';
export const back = { namespace: 'default', name: 'back' };

const forever = new AbortController().signal;

export const bucketOf = ({ storage: { send }, clock }: Hosts) =>
  new Bucket({
    endpoint: 'http://s3.storage:9000',
    bucket: 'backups',
    credentials: { accessKey: 'key', secretAccessKey: 'secret' },
    send,
    clock,
  });

type Snapshots = QdrantCollectionBackup['spec']['snapshots'];

/** Says where the backups of the collection are. */
export async function declareBucket(client: Client, more: Partial<Snapshots> = {}): Promise<void> {
  const stringData = { ACCESS_KEY: 'key', SECRET_KEY: 'secret' };
  const data = Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, btoa(text)]));
  await client.create(Secret, { metadata: { namespace: 'default', name: 's3' }, data });
  await client.create(QdrantCollectionBackup, {
    metadata: { namespace: 'default', name: 'backups' },
    spec: {
      cluster: 'vectors',
      collectionName: 'points',
      snapshots: {
        s3EndpointURL: 'http://s3.storage:9000',
        s3CredentialsSecretName: 's3',
        bucketName: 'backups',
        ...more,
      },
    },
  });
}

type Spec = QdrantCollectionRestore['spec'];

export const restoreTo =
  (more: Partial<Spec> = {}, metadata = back) =>
  (client: Client) =>
    client.apply(
      QdrantCollectionRestore,
      { metadata, spec: { cluster: 'vectors', collection: 'points', backupId: ID, ...more } },
      { fieldManager: 'user', force: true },
    );

/** What a peer answers, as it is. */
async function got({ qdrant }: Hosts, host: string, method: string, path: string): Promise<Uint8Array> {
  const { status, body } = await qdrant.request(host, { method, path, headers: {}, body: new Uint8Array() });
  if (status !== 200) throw new Error(`${method} ${path}: ${Buffer.from(body).toString('utf8')}`);
  return body;
}

async function resultOf<T>(hosts: Hosts, host: string, path: string): Promise<T> {
  const { result }: { result: T } = JSON.parse(Buffer.from(await got(hosts, host, 'GET', path)).toString('utf8'));
  return result;
}

interface Described {
  readonly config: { readonly params: Readonly<Record<string, unknown>> };
}

/** A file for each shard, and a manifest. */
export async function backUp(hosts: Hosts, more: Partial<Manifest> = {}): Promise<Manifest> {
  const bucket = bucketOf(hosts);
  const peers = hosts.qdrant.peers.filter(({ isServing }) => isServing);
  const [first] = peers;
  const shards: ShardFile[] = [];
  for (const { id, replicas } of first?.view.collections['points']?.shards ?? []) {
    const holder = peers.find((peer) => peer.id in replicas);
    const body = await got(hosts, holder?.host ?? '', 'GET', `/collections/points/shards/${id}/snapshot`);
    const sha256 = createHash('sha256').update(body).digest('hex');
    shards.push({ id, file: shardFile(id), bytes: body.byteLength, sha256 });
    await bucket.put(`${ID}/${shardFile(id)}`, body, {}, forever);
  }
  const { config } = await resultOf<Described>(hosts, first?.host ?? '', `/collections/points`);
  const { vectors, shard_number: shardNumber, replication_factor: replicationFactor } = config.params;
  const manifest: Manifest = {
    format: 1,
    id: ID,
    cluster: 'vectors',
    collection: 'points',
    takenAt: new Date(hosts.clock.now()).toISOString(),
    qdrantVersion: '1.19.0',
    config: { vectors },
    shardNumber: Number(shardNumber),
    replicationFactor: Number(replicationFactor),
    aliases: [],
    shards,
    ...more,
  };
  await bucket.put(manifestKey(ID), Buffer.from(JSON.stringify(manifest)), {}, forever);
  return manifest;
}

/** A file for each peer, and nothing else. */
export async function backUpAsUpstream(hosts: Hosts): Promise<void> {
  for (const { host } of hosts.qdrant.peers) {
    const made = await got(hosts, host, 'POST', `/collections/points/snapshots`);
    const { result }: { result: { name: string } } = JSON.parse(Buffer.from(made).toString('utf8'));
    const body = await got(hosts, host, 'GET', `/collections/points/snapshots/${result.name}`);
    await bucketOf(hosts).put(`${ID}/${host.split('.')[0]}.snapshot`, body, {}, forever);
  }
}
