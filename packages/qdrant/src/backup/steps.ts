import { createHash } from 'node:crypto';
import { isConflict, messageOf, type Steps } from '@polder/kube';
import type { Bucket } from '@polder/s3';
import { type Answer, type JsonObject, PeerClient, SnapshotsClient, type TakenSnapshot } from '../api/index.ts';
import { keysOf, type Manifest, manifestKey, type ShardFile, shardFile } from '../archive/index.ts';
import { type Leftover, type QdrantCluster, QdrantCollectionBackup } from '../kinds/index.ts';
import { doorsOf, keyringOf } from '../peers.ts';
import { StepFailed } from './failure.ts';
import type { BackupWorld } from './observe.ts';
import { creationOf, shapeOf } from './shape.ts';
import type { BackupStep } from './step.ts';
import { bucketOf, credentialsOf } from './storage.ts';

export const backupSteps: Steps<BackupStep, BackupWorld> = {
  async 'copy-shard'({ backup, current, cluster, shard, from }, world) {
    const [pod] = from;
    if (pod === undefined) throw new Error(`nobody has a copy of shard ${shard}`);
    const { collectionName: collection } = backup.spec;
    await attempt(backup, world, async (bucket) => {
      const peer = await snapshotsOf(cluster, pod, world);
      const described = valueOf(pod, await peer.describe(collection));
      const others = valueOf(pod, await peer.list(collection, shard));
      const leftover = { pod, shard, others: [...others] };
      // Before it is made: whoever dies meanwhile is followed by somebody who knows where to look.
      await remember(backup, leftover, world);
      // Not the signal of the pass: what is on the peer is removed also by who has to stop.
      const cleaner = await snapshotsOf(cluster, pod, world, new AbortController().signal);
      await withSnapshot(peer, cleaner, collection, leftover, async (taken) => {
        const stream = valueOf(pod, await peer.download(collection, shard, taken.name));
        const metadata = {
          sha256: taken.sha256,
          namespace: namespaceOf(backup),
          shape: shapeOf(described.config),
        };
        const key = `${current.id}/${shardFile(shard)}`;
        await bucket.abandonUploads(key, world.signal);
        const options = { metadata, expectedBytes: taken.bytes };
        await bucket.put(key, verified(stream, taken, `${pod} sent shard ${shard}`), options, world.signal);
        await check(bucket, key, taken, world.signal);
      });
    });
  },

  async 'write-manifest'({ backup, current, cluster, shards, pod }, world) {
    const { collectionName: collection } = backup.spec;
    await attempt(backup, world, async (bucket) => {
      const described = valueOf(pod, await (await snapshotsOf(cluster, pod, world)).describe(collection));
      const files: ShardFile[] = [];
      for (const { id, key } of shards) {
        const file = await shardIn(bucket, current.id, id, { ...backup.metadata, config: described.config }, world);
        files.push({ ...file, ...(key !== undefined && { key }) });
      }
      const door = doorsOf(cluster, await keyringOf(cluster, world.cluster)).peer(pod);
      const version = valueOf(pod, await new PeerClient(door, world.peers, world.signal).version());
      const config = creationOf(described.config);
      const manifest: Manifest = {
        format: 1,
        id: current.id,
        cluster: backup.spec.cluster,
        namespace: namespaceOf(backup),
        collection,
        takenAt: current.startedAt,
        qdrantVersion: version,
        config,
        shardNumber: numberIn(config, 'shard_number', shards.length),
        replicationFactor: numberIn(config, 'replication_factor', 1),
        aliases: [...described.aliases],
        shards: files,
      };
      const body = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
      await bucket.put(manifestKey(current.id), body, { contentType: 'application/json' }, world.signal);
    });
  },

  async 'remove-set'({ backup, set }, world) {
    await attempt(backup, world, async (bucket) => {
      await bucket.remove(keysOf(set, shardFile), world.signal);
      await bucket.abandonUploads(`${set.id}/`, world.signal);
    });
  },

  async 'clear-leftover'({ backup, cluster, leftover: { pod, shard, others } }, world) {
    const { collectionName: collection } = backup.spec;
    await attempt(backup, world, async () => {
      const peer = await snapshotsOf(cluster, pod, world);
      const answer = await peer.list(collection, shard);
      // It has no such shard, or no such collection, any more: its snapshots went with it.
      if (answer.is === 'refused') return;
      for (const name of valueOf(pod, answer)) {
        if (!others.includes(name)) await removed(peer, collection, shard, name);
      }
    });
  },
};

/** What fails in it is told with what it was attempted with. The first time in a backup, it is news. */
async function attempt(
  backup: QdrantCollectionBackup,
  world: BackupWorld,
  work: (bucket: Bucket) => Promise<void>,
): Promise<void> {
  const credentials = await credentialsOf(backup, world.cluster);
  if (credentials.is === 'missing') throw new Error(credentials.because);
  try {
    await work(bucketOf(credentials, world));
  } catch (error) {
    world.signal.throwIfAborted();
    // The spec changed meanwhile: that brings us back.
    if (isConflict(error)) throw error;
    const note = messageOf(error);
    const { current } = backup.status ?? {};
    if (current && (current.failures ?? 0) === 0)
      world.tell({ type: 'Warning', reason: 'BackupFailed', action: 'Backup', note });
    const leftover = error instanceof SnapshotLeft ? error.leftover : undefined;
    const cause = error instanceof SnapshotLeft ? error.cause : error;
    throw new StepFailed(note, { cause, credentials: credentials.version, leftover });
  }
}

const snapshotsOf = async (cluster: QdrantCluster, pod: string, world: BackupWorld, signal = world.signal) =>
  new SnapshotsClient(doorsOf(cluster, await keyringOf(cluster, world.cluster)).peer(pod), world.peers, signal);

const namespaceOf = ({ metadata }: Pick<QdrantCollectionBackup, 'metadata'>): string => metadata.namespace ?? 'default';

const remember = (backup: QdrantCollectionBackup, leftover: Leftover, { cluster }: BackupWorld): Promise<void> =>
  cluster.applyStatus(QdrantCollectionBackup, backup, {
    ...backup.status,
    leftovers: [...(backup.status?.leftovers ?? []), leftover],
  });

/** A snapshot that may still be on the peer. */
class SnapshotLeft extends Error {
  readonly leftover: Leftover;

  constructor(leftover: Leftover, cause: unknown) {
    super(messageOf(cause), { cause });
    this.leftover = leftover;
  }
}

/** Makes one, and removes it whatever comes of it. */
async function withSnapshot(
  peer: SnapshotsClient,
  cleaner: SnapshotsClient,
  collection: string,
  leftover: Leftover,
  work: (taken: TakenSnapshot) => Promise<void>,
): Promise<void> {
  const { pod, shard } = leftover;
  const answer = await peer.create(collection, shard);
  // Refused, it was not made. Without an answer it may be there, under a name that only the peer knows.
  if (answer.is === 'ambiguous') throw new SnapshotLeft(leftover, new Error(`${pod}: ${answer.because}`));
  const taken = valueOf(pod, answer);
  const failed = await work(taken).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // One that was there under this name was made in the same second. It is ours now, and theirs to remove.
  if (!leftover.others.includes(taken.name)) {
    await removed(cleaner, collection, shard, taken.name).catch((error: unknown) => {
      throw new SnapshotLeft(leftover, failed?.error ?? error);
    });
  }
  if (failed) throw failed.error;
}

/** One that is not there is removed already. */
async function removed(peer: SnapshotsClient, collection: string, shard: number, name: string): Promise<void> {
  const answer = await peer.remove(collection, shard, name);
  if (answer.is === 'ok' || (answer.is === 'refused' && answer.status === 404)) return;
  throw new Error(`snapshot ${name} could not be removed: ${answer.because}`);
}

/**
 * What was announced, byte for byte: a snapshot that was made in the same second under the same name took its place. Thrown at
 * the end of the stream, so that what was put of it by then never becomes an object.
 */
async function* verified(
  stream: AsyncIterable<Uint8Array>,
  { bytes, sha256 }: TakenSnapshot,
  what: string,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let seen = 0;
  for await (const part of stream) {
    hash.update(part);
    seen += part.byteLength;
    yield part;
  }
  const found = hash.digest('hex');
  if (found === sha256 && seen === bytes) return;
  throw new Error(`${what} as ${seen} bytes with sha256 ${found}, and announced ${bytes} bytes with ${sha256}`);
}

/**
 * The storage compared the hash of each part that it took. That it took all of them, and knows the sum that a restore is
 * checked against, is asked for; it is not read again, which would take as long as the upload and cost as much.
 */
async function check(bucket: Bucket, key: string, taken: TakenSnapshot, signal: AbortSignal): Promise<void> {
  const found = await bucket.head(key, signal);
  if (found?.bytes === taken.bytes && found.metadata['sha256'] === taken.sha256) return;
  await bucket.remove([key], signal);
  throw new Error(`${key} is not in the bucket as it was put: ${found ? `${found.bytes} bytes` : 'it is not there'}`);
}

/** A file of the backup, as a manifest names it. One that does not belong to it is removed, and copied anew. */
async function shardIn(
  bucket: Bucket,
  id: string,
  shard: number,
  of: { readonly namespace?: string; readonly config: JsonObject },
  { signal }: BackupWorld,
): Promise<ShardFile> {
  const file = shardFile(shard);
  const key = `${id}/${file}`;
  const found = await bucket.head(key, signal);
  if (!found) throw new Error(`${key} is not in the bucket any more`);
  const { sha256, namespace, shape } = found.metadata;
  if (namespace !== (of.namespace ?? 'default'))
    throw new Error(`${key} is of namespace ${namespace}: clusters of the same name need buckets of their own`);
  if (sha256 !== undefined && shape === shapeOf(of.config)) return { id: shard, file, bytes: found.bytes, sha256 };
  await bucket.remove([key], signal);
  throw new Error(`the collection became another one while it was backed up; ${key} is copied again`);
}

function valueOf<T>(pod: string, answer: Answer<T>): T {
  if (answer.is === 'ok') return answer.value;
  throw new Error(`${pod}: ${answer.because}`);
}

const numberIn = (config: JsonObject, key: string, otherwise: number): number => {
  const value = config[key];
  return typeof value === 'number' ? value : otherwise;
};
