/** The bucket of a backup: what opens it, and what is said when it can't be opened. */
import { type Clock, type Cluster as Kubernetes, Secret } from '@polder/kube';
import { Bucket, type BucketOptions, S3Error, type Send } from '@polder/s3';
import { decoded } from '../cluster/objects/index.ts';
import type { QdrantCollectionBackup } from '../kinds/index.ts';

export type Credentials =
  | {
      readonly is: 'given';
      /** Of the Secret: another one may open what this one did not. */
      readonly version: string;
      readonly bucket: Pick<BucketOptions, 'endpoint' | 'region' | 'bucket' | 'credentials'>;
    }
  | { readonly is: 'missing'; readonly because: string };

export async function credentialsOf(
  { metadata, spec: { snapshots } }: QdrantCollectionBackup,
  kubernetes: Kubernetes,
): Promise<Credentials> {
  const { s3CredentialsSecretName: name, s3EndpointURL: endpoint, bucketName: bucket } = snapshots;
  const secret = await kubernetes.get(Secret, { namespace: metadata.namespace ?? 'default', name });
  if (!secret) return missing(`Secret ${name} is missing; create it with the keys ACCESS_KEY and SECRET_KEY`);
  const [accessKey, secretAccessKey] = [textIn(secret, 'ACCESS_KEY'), textIn(secret, 'SECRET_KEY')];
  if (!accessKey) return missing(`Secret ${name} has no key ACCESS_KEY, or an empty one`);
  if (!secretAccessKey) return missing(`Secret ${name} has no key SECRET_KEY, or an empty one`);
  const region = textIn(secret, 'REGION') || undefined;
  return {
    is: 'given',
    version: secret.metadata.resourceVersion ?? '',
    bucket: { endpoint, bucket, region, credentials: { accessKey, secretAccessKey } },
  };
}

/** What was piped into a file has a newline at its end. */
const textIn = (secret: Secret, key: string): string | undefined => decoded(secret, key)?.trim();

const missing = (because: string): Credentials => ({ is: 'missing', because });

export interface StorageWorld {
  readonly storage: Send;
  readonly peers: { readonly clock: Clock };
}

export const bucketOf = (
  { bucket }: Extract<Credentials, { is: 'given' }>,
  { storage: send, peers: { clock } }: StorageWorld,
  patience: Pick<BucketOptions, 'attempts' | 'timeoutMs'> = {},
): Bucket => new Bucket({ ...bucket, ...patience, send, clock });

/** To look is soon done, or done again soon. */
export const IMPATIENT = { attempts: 2, timeoutMs: 30_000 };

/** What is wrong with a storage, and what to do about it. */
export interface StorageTrouble {
  /** `S3BucketMissing`, `S3AccessDenied`, `S3Refused`; `S3Unavailable` passes by itself. */
  readonly reason: string;
  readonly because: string;
}

/** Undefined: it has nothing to do with the storage. */
export function storageTroubleOf(
  error: unknown,
  { spec: { snapshots } }: QdrantCollectionBackup,
): StorageTrouble | undefined {
  if (!(error instanceof S3Error)) return undefined;
  const { trouble, message } = error;
  const { bucketName, s3CredentialsSecretName: secret } = snapshots;
  switch (trouble.is) {
    case 'no-bucket':
      return { reason: 'S3BucketMissing', because: `there is no bucket ${bucketName}; create it (${message})` };
    case 'forbidden': {
      const because = `the storage says ${trouble.code}: check the keys in Secret ${secret}, and that they may list, read, write and delete in bucket ${bucketName} (${message})`;
      return { reason: 'S3AccessDenied', because };
    }
    case 'refused':
      return { reason: 'S3Refused', because: `the storage says ${trouble.code}: check spec.snapshots (${message})` };
    case 'busy':
    case 'unreachable':
      return { reason: UNAVAILABLE, because: message };
  }
}

export const UNAVAILABLE = 'S3Unavailable';
