import { isAlreadyExists } from '@polder/kube';
import { QdrantCollection, QdrantCollectionRestore } from '../kinds/index.ts';
import { LONGEST_LABEL } from '../template/names.ts';
import { type Answer, alreadyExists, created, invalid, list, notFound } from './answer.ts';
import { MANAGED_BY, type NamespacedCall } from './call.ts';
import { allOf, find } from './lookup.ts';
import { restoreRequest } from './requests.ts';

const COLLECTION_LABEL = 'qdrant.operator/collection';

export async function createRestore(
  call: NamespacedCall,
  collection: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const asked = restoreRequest(body);
  if (asked.is === 'invalid') {
    const [first = '', ...more] = asked.details;
    return more.length === 0 && first === NO_BACKUP ? { status: 400, body: { error: first } } : invalid(asked.details);
  }
  const found = await find(call, QdrantCollection, collection);
  if (!found) return notFound('collection', collection);
  const { namespace, client, signal, now } = call;
  // Two of one millisecond are one that was sent twice: the second finds that the name is taken.
  const name = `${collection}-restore-${now}`;
  // The API server would refuse the whole object for a label that is too long.
  const labels = { ...MANAGED_BY, ...(collection.length <= LONGEST_LABEL && { [COLLECTION_LABEL]: collection }) };
  const spec = { collection, cluster: found.spec.cluster, ...asked.value };
  try {
    await client.create(QdrantCollectionRestore, { metadata: { name, namespace, labels }, spec }, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return alreadyExists('restore', name);
    throw error;
  }
  const { backupId } = asked.value;
  return created({ id: name, collection, backupId, status: 'Pending', message: 'Restore operation initiated' });
}

const NO_BACKUP = 'backupId is required';

export async function listRestores(call: NamespacedCall, collection: string): Promise<Answer> {
  const all = await allOf(call, QdrantCollectionRestore);
  return list(
    all
      .filter(({ spec }) => spec.collection === collection)
      .toSorted(newestFirst)
      .map(itemOf),
  );
}

function itemOf({ metadata, spec, status }: QdrantCollectionRestore) {
  return {
    id: metadata.name,
    collection: spec.collection,
    backupId: spec.backupId,
    mode: spec.mode ?? 'replace',
    status: status?.phase ?? 'Pending',
    message: status?.message ?? null,
    startedAt: status?.startedAt ?? null,
    completedAt: status?.completedAt ?? null,
    error: status?.error ?? null,
  };
}

/** Those of one second by their names, which end with the millisecond. */
function newestFirst({ metadata: one }: QdrantCollectionRestore, { metadata: other }: QdrantCollectionRestore): number {
  const ms = Date.parse(other.creationTimestamp ?? '') - Date.parse(one.creationTimestamp ?? '');
  return ms || (one.name < other.name ? 1 : -1);
}
