/** Which bucket the backups of a collection are in. A restore does not say: the collection does, or whoever backs it up. */
import type { Cluster } from '@polder/kube';
import type { Bucket } from '@polder/s3';
import { bucketOf, credentialsOf, type SaysWhere, type StorageWorld } from '../backup/storage.ts';
import { QdrantCollection, QdrantCollectionBackup, type QdrantCollectionRestore } from '../kinds/index.ts';

export type BucketFound =
  /** Its credentials are read when they are used: they are in no plan. */
  | { readonly is: 'found'; readonly source: SaysWhere }
  /** What the user has to create. */
  | { readonly is: 'missing'; readonly because: string };

export async function bucketFor(restore: QdrantCollectionRestore, kubernetes: Cluster): Promise<BucketFound> {
  const { cluster, collection } = restore.spec;
  const namespace = restore.metadata.namespace ?? 'default';
  const own = await kubernetes.get(QdrantCollection, { namespace, name: collection });
  const backups = await kubernetes.list(QdrantCollectionBackup, namespace);
  const backup = backups.find(({ spec }) => spec.cluster === cluster && spec.collectionName === collection);
  const { snapshots } = (own?.spec.cluster === cluster ? own.spec : undefined) ?? {};
  const source = own && snapshots ? { metadata: own.metadata, spec: { snapshots } } : backup;
  if (!source) {
    const because = `nothing says where backups of ${collection} are; give QdrantCollection ${collection} of cluster ${cluster} spec.snapshots, or create a QdrantCollectionBackup with cluster ${cluster} and collectionName ${collection}`;
    return { is: 'missing', because };
  }
  const credentials = await credentialsOf(source, kubernetes);
  return credentials.is === 'missing' ? credentials : { is: 'found', source };
}

export async function openBucket(
  source: SaysWhere,
  world: StorageWorld & { readonly cluster: Cluster },
): Promise<Bucket> {
  const credentials = await credentialsOf(source, world.cluster);
  if (credentials.is === 'missing') throw new Error(credentials.because);
  return bucketOf(credentials, world);
}
