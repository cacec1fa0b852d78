import type { QdrantCollection, QdrantCollectionTemplate } from '../kinds/index.ts';

type CollectionSpec = QdrantCollection['spec'];
type TemplateSpec = QdrantCollectionTemplate['spec'];
type Snapshots = NonNullable<CollectionSpec['snapshots']>;

/** Where backups go. */
export type Bucket = Pick<Snapshots, 's3EndpointURL' | 's3CredentialsSecretName' | 'bucketName'>;

/** What somebody wants of a collection. What is left out, a template may say. */
export interface Wishes {
  readonly cluster: string;
  readonly vectors?: {
    readonly size?: number | undefined;
    readonly distance?: CollectionSpec['distance'] | undefined;
  };
  readonly replication?: number | undefined;
  readonly backup?: {
    readonly enabled?: boolean | undefined;
    readonly schedule?: string | undefined;
    readonly retentionCount?: number | undefined;
    readonly bucket?: Bucket | undefined;
  };
}

export type Merged =
  | { readonly is: 'complete'; readonly spec: CollectionSpec; readonly warnings: readonly string[] }
  | { readonly is: 'incomplete'; readonly because: string };

/**
 * The collection that somebody wants, field by field: as it is wished for, else as the template has it. What neither says is
 * left out: a collection that is there already is left as it is in that.
 * `bucket` is where backups of the cluster usually go, if that is known.
 */
export function merge(wishes: Wishes, template: TemplateSpec | undefined, bucket: Bucket | undefined): Merged {
  const vectorSize = wishes.vectors?.size ?? template?.vectors?.size;
  if (vectorSize === undefined) {
    return { is: 'incomplete', because: 'vectors.size is required: the template does not have it' };
  }
  const distance = wishes.vectors?.distance ?? template?.vectors?.distance;
  const replicationFactor = wishes.replication ?? template?.replicationFactor;
  const quantization = quantizationOf(template);
  const { snapshots, warnings } = snapshotsOf(wishes, template, bucket);
  return {
    is: 'complete',
    spec: {
      cluster: wishes.cluster,
      vectorSize,
      ...(distance && { distance }),
      ...(template?.shards !== undefined && { shardNumber: template.shards }),
      ...(replicationFactor !== undefined && { replicationFactor }),
      ...(template?.onDisk !== undefined && { onDisk: template.onDisk }),
      ...(quantization && { config: { quantization_config: quantization } }),
      ...(snapshots && { snapshots }),
    },
    warnings,
  };
}

/** Whether there are to be backups. To speak of them is to want them, unless it is said that they are off. */
export function wantsBackups({ backup }: Wishes, template: TemplateSpec | undefined): boolean {
  return backup ? (backup.enabled ?? true) : (template?.backup?.enabled ?? false);
}

/** As Qdrant takes it: one method, with the parameter that it can't do without. */
function quantizationOf(template: TemplateSpec | undefined): Readonly<Record<string, object>> | undefined {
  const { scalar, product } = template?.vectors?.quantization ?? {};
  if (product?.compression) return { product: { compression: product.compression } };
  return scalar && { scalar: { type: scalar.type ?? 'int8' } };
}

function snapshotsOf(
  wishes: Wishes,
  template: TemplateSpec | undefined,
  usual: Bucket | undefined,
): { readonly snapshots?: Snapshots; readonly warnings: readonly string[] } {
  if (!wantsBackups(wishes, template)) return { warnings: [] };
  const bucket = wishes.backup?.bucket ?? usual;
  if (!bucket) return { warnings: [NO_BUCKET] };
  const backupSchedule = wishes.backup?.schedule ?? template?.backup?.schedule ?? '';
  const retentionCount = wishes.backup?.retentionCount ?? template?.backup?.retentionCount;
  return {
    snapshots: { ...bucket, backupSchedule, ...(retentionCount !== undefined && { retentionCount }) },
    warnings: backupSchedule === '' ? [NO_SCHEDULE] : [],
  };
}

const NO_BUCKET =
  'backup is left out, because no bucket is known: give backup.s3EndpointURL, backup.s3CredentialsSecretName and backup.bucketName, or set spec.snapshots of the QdrantCollection';
const NO_SCHEDULE = 'backup has no schedule: backups are made only when spec.snapshots.backupNow is set';
