/** What the bodies of calls ask for: pure, and with everything that is wrong at once, in the words of upstream's API. */
import type { QdrantCollectionRestore, QdrantCollectionTemplate } from '../kinds/index.ts';
import type { Bucket, Wishes } from '../template/merge.ts';
import { problemWithCron, problemWithName, problemWithSpec } from '../template/problem.ts';
import { Fields } from './fields.ts';

type Body = Readonly<Record<string, unknown>>;

export type Asked<T> =
  | { readonly is: 'valid'; readonly value: T }
  | { readonly is: 'invalid'; readonly details: readonly string[] };

export interface CollectionRequest extends Wishes {
  readonly name: string;
  readonly template?: string | undefined;
}

const DISTANCES = ['Cosine', 'Euclid', 'Dot'] as const;
const TOO_SMALL = 'must be at least 1';

export function collectionRequest(body: Body): Asked<CollectionRequest> {
  const fields = new Fields(body);
  const name = nameIn(fields);
  const cluster = fields.required('cluster');
  const template = fields.text('template') || undefined;
  const vectors = fields.object('vectors');
  if (template === undefined && !vectors.has('size')) {
    vectors.note('size', 'is required when template is not provided');
  }
  const value = {
    name,
    cluster,
    template,
    vectors: { size: vectors.count('size', TOO_SMALL), distance: vectors.oneOf('distance', DISTANCES) },
    replication: fields.count('replication'),
    ...(fields.has('backup') && { backup: backupIn(fields.object('backup')) }),
  };
  return asked(fields, value);
}

export function restoreRequest(body: Body): Asked<Omit<QdrantCollectionRestore['spec'], 'collection' | 'cluster'>> {
  const fields = new Fields(body);
  const value = {
    backupId: fields.required('backupId'),
    mode: fields.oneOf('mode', ['replace', 'merge']) ?? ('replace' as const),
    pauseWrites: fields.flag('pauseWrites') ?? true,
  };
  return asked(fields, value);
}

type TemplateSpec = QdrantCollectionTemplate['spec'];

export function templateRequest(body: Body): Asked<TemplateSpec> {
  const fields = new Fields(body);
  const name = nameIn(fields);
  const unusable = problemWithName(name);
  if (unusable !== undefined) fields.note('name', unusable);
  const shards = fields.count('shards');
  const replicationFactor = fields.count('replicationFactor');
  const onDisk = fields.flag('onDisk');
  const value: TemplateSpec = {
    name,
    ...(shards !== undefined && { shards }),
    ...(replicationFactor !== undefined && { replicationFactor }),
    ...(onDisk !== undefined && { onDisk }),
    ...(fields.has('vectors') && { vectors: templateVectorsIn(fields.object('vectors')) }),
    ...(fields.has('backup') && { backup: templateBackupIn(fields.object('backup')) }),
  };
  const unmakeable = fields.details.length === 0 ? problemWithSpec(value) : undefined;
  if (unmakeable) fields.note(unmakeable.path, unmakeable.message);
  return asked(fields, value);
}

function templateVectorsIn(vectors: Fields): NonNullable<TemplateSpec['vectors']> {
  const size = vectors.count('size', TOO_SMALL);
  const distance = vectors.oneOf('distance', DISTANCES);
  const quantization = vectors.object('quantization');
  const compression = quantization.object('product').oneOf('compression', ['x4', 'x8', 'x16', 'x32', 'x64']);
  const type = quantization.object('scalar').oneOf('type', ['int8']);
  return {
    ...(size !== undefined && { size }),
    ...(distance && { distance }),
    ...(vectors.has('quantization') && {
      quantization: {
        ...(quantization.has('scalar') && { scalar: type ? { type } : {} }),
        ...(quantization.has('product') && { product: compression ? { compression } : {} }),
      },
    }),
  };
}

function templateBackupIn(backup: Fields): NonNullable<TemplateSpec['backup']> {
  const { enabled, schedule, retentionCount } = scheduleIn(backup);
  return {
    ...(enabled !== undefined && { enabled }),
    ...(schedule !== undefined && { schedule }),
    ...(retentionCount !== undefined && { retentionCount }),
  };
}

function asked<T>({ details }: Fields, value: T): Asked<T> {
  return details.length === 0 ? { is: 'valid', value } : { is: 'invalid', details };
}

function nameIn(fields: Fields): string {
  const name = fields.required('name');
  if (name !== '' && !/^[a-z0-9-]+$/.test(name)) {
    fields.note('name', 'must contain only lowercase letters, numbers, and hyphens');
  }
  return name;
}

function backupIn(backup: Fields): NonNullable<Wishes['backup']> {
  return { ...scheduleIn(backup), bucket: bucketIn(backup) };
}

function scheduleIn(backup: Fields) {
  const schedule = backup.text('schedule');
  const problem = problemWithCron(schedule);
  if (problem !== undefined) backup.note('schedule', problem);
  return { enabled: backup.flag('enabled'), schedule, retentionCount: backup.count('retentionCount') };
}

/** Upstream hands a backup over as it is, so its users say here where it goes. */
function bucketIn(backup: Fields): Bucket | undefined {
  const names = ['s3EndpointURL', 's3CredentialsSecretName', 'bucketName'];
  if (!names.some((name) => backup.has(name))) return undefined;
  const [s3EndpointURL = '', s3CredentialsSecretName = '', bucketName = ''] = names.map((name) =>
    backup.required(name),
  );
  return { s3EndpointURL, s3CredentialsSecretName, bucketName };
}
