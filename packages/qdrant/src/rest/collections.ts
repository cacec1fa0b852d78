import { isAlreadyExists } from '@polder/kube';
import { QdrantCollection, QdrantCollectionBackup, QdrantCollectionTemplate } from '../kinds/index.ts';
import { type Bucket, merge, wantsBackups } from '../template/merge.ts';
import { NO_TEMPLATE, TEMPLATE_LABEL } from '../template/names.ts';
import { problemWithName, problemWithSpec } from '../template/problem.ts';
import { type Answer, alreadyExists, created, invalid, list, notFound, ok } from './answer.ts';
import { isName, MANAGED_BY, type NamespacedCall } from './call.ts';
import { allOf, find } from './lookup.ts';
import { isMissingObject } from './refusal.ts';
import { type CollectionRequest, collectionRequest } from './requests.ts';

export async function createCollection(call: NamespacedCall, body: Readonly<Record<string, unknown>>): Promise<Answer> {
  const asked = collectionRequest(body);
  if (asked.is === 'invalid') return invalid(asked.details);
  const { name, template: templateName } = asked.value;
  const template = templateName === undefined ? undefined : await find(call, QdrantCollectionTemplate, templateName);
  if (templateName !== undefined) {
    if (!template) return { status: 404, body: { error: 'Template not found', template: templateName } };
    const problem = problemWithTemplate(template);
    if (problem !== undefined) return invalid([`template ${problem}`]);
  }
  const bucket = await usualBucket(call, asked.value, template);
  const merged = merge(asked.value, template?.spec, bucket);
  if (merged.is === 'incomplete') return invalid([merged.because]);
  const { namespace, client, signal } = call;
  const labels = { ...MANAGED_BY, [TEMPLATE_LABEL]: templateName ?? NO_TEMPLATE };
  try {
    await client.create(QdrantCollection, { metadata: { name, namespace, labels }, spec: merged.spec }, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return alreadyExists('collection', name);
    throw error;
  }
  const { warnings } = merged;
  const message = 'Collection creation initiated';
  return created({ id: name, name, namespace, status: 'Pending', message, ...(warnings.length > 0 && { warnings }) });
}

export async function listCollections(call: NamespacedCall): Promise<Answer> {
  return list((await allOf(call, QdrantCollection)).map(itemOf));
}

export async function getCollection(call: NamespacedCall, name: string): Promise<Answer> {
  const collection = await find(call, QdrantCollection, name);
  if (!collection) return notFound('collection', name);
  const { metadata, spec } = collection;
  return ok({ ...itemOf(collection), onDisk: spec.onDisk ?? true, createdAt: metadata.creationTimestamp });
}

export async function deleteCollection(call: NamespacedCall, name: string): Promise<Answer> {
  const { client, namespace, signal } = call;
  if (!isName(name)) return notFound('collection', name);
  try {
    await client.delete(QdrantCollection, { namespace, name }, { signal });
  } catch (error) {
    if (isMissingObject(error)) return notFound('collection', name);
    throw error;
  }
  return ok({ id: name, name, status: 'Deleting', message: 'Collection deletion initiated' });
}

function itemOf({ metadata, spec, status }: QdrantCollection) {
  const { name, namespace, deletionTimestamp } = metadata;
  return {
    id: name,
    name,
    namespace,
    cluster: spec.cluster,
    status: deletionTimestamp === undefined ? (status?.qdrantStatus ?? 'Unknown') : 'Deleting',
    shards: spec.shardNumber ?? 1,
    replicas: spec.replicationFactor ?? 1,
    vectorSize: spec.vectorSize,
    backup: spec.snapshots ? 'enabled' : 'disabled',
  };
}

/** That its spec.name differs does not keep anybody from using it. */
function problemWithTemplate({ metadata, spec }: QdrantCollectionTemplate): string | undefined {
  const name = problemWithName(metadata.name);
  if (name !== undefined) return `${metadata.name}: its name ${name}`;
  const problem = problemWithSpec(spec);
  return problem && `${metadata.name}: its ${problem.path} ${problem.message}`;
}

/** Neither a template nor most requests say where backups go: there, where all others of the cluster go. */
async function usualBucket(
  call: NamespacedCall,
  request: CollectionRequest,
  template: QdrantCollectionTemplate | undefined,
): Promise<Bucket | undefined> {
  if (!wantsBackups(request, template?.spec) || request.backup?.bucket) return undefined;
  const collections = await allOf(call, QdrantCollection);
  const backups = await allOf(call, QdrantCollectionBackup);
  const buckets = [...collections, ...backups]
    .filter(({ spec }) => spec.cluster === request.cluster)
    .flatMap(({ spec: { snapshots } }) => (snapshots ? [bucketOf(snapshots)] : []));
  const [first, ...others] = buckets;
  return others.every((one) => isSame(one, first)) ? first : undefined;
}

const bucketOf = ({ s3EndpointURL, s3CredentialsSecretName, bucketName }: Bucket): Bucket => ({
  s3EndpointURL,
  s3CredentialsSecretName,
  bucketName,
});

const isSame = (one: Bucket, other: Bucket | undefined) => JSON.stringify(one) === JSON.stringify(other);
