import {
  type Cached,
  type Controller,
  controller,
  messageOf,
  type ObjectRef,
  Pod,
  Secret,
  StatefulSet,
  UserMustAct,
  watch,
} from '@polder/kube';
import { failedCleanup } from '../cleanup.ts';
import { QdrantCluster, QdrantCollection, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { type Observed, observeRestore, type RestoreWorld } from './observe.ts';
import { failed, isOver, planRestore, type RestoreStep } from './plan/index.ts';
import { restoreSteps } from './steps.ts';

/** A pass reads or sends one file, which may be large. */
const PASS_MS = 2 * 3_600_000;

/** Takes collections back to backups, each once. */
export function restores(
  settings: Settings,
): Controller<QdrantCollectionRestore, Observed | undefined, RestoreStep, RestoreWorld> {
  return controller({
    kind: QdrantCollectionRestore,
    reportsAs: 'qdrant-operator',
    finalizer: 'qdrant.operator/temporary-collection',
    needsFinalizer: ({ status }) => status?.temporary !== undefined,
    watches: [
      watch(QdrantCluster, ({ metadata }, cached) =>
        waiting(cached, metadata.namespace, ({ spec }) => spec.cluster === metadata.name),
      ),
      watch(QdrantCollection, ({ metadata }, cached) =>
        waiting(cached, metadata.namespace, ({ spec }) => spec.collection === metadata.name),
      ),
      watch(QdrantCollectionBackup, ({ metadata, spec: { collectionName } }, cached) =>
        waiting(cached, metadata.namespace, ({ spec }) => spec.collection === collectionName),
      ),
      // Which Secret a restore needs is said by others: the few that wait look for themselves.
      watch(Secret, ({ metadata }, cached) =>
        waiting(cached, metadata.namespace, ({ status }) => status?.phase === 'Pending'),
      ),
      // Read when the peers are asked.
      watch(Pod, () => []),
      watch(StatefulSet, () => []),
    ],
    observe: observeRestore,
    plan: (restore, observed, now) => planRestore(restore, observed, now, settings),
    steps: restoreSteps,
    failed(restore, error, now) {
      const { metadata, status } = restore;
      if (metadata.deletionTimestamp !== undefined) return { ...status, ...failedCleanup(restore, error) };
      if (error instanceof UserMustAct) return failed(restore, error.message, now).status;
      return { ...status, ...(status?.phase === 'InProgress' && { message: messageOf(error) }) };
    },
    timeoutMs: PASS_MS,
  });
}

function waiting(
  cached: Cached,
  namespace: string | undefined,
  isConcerned: (restore: QdrantCollectionRestore) => boolean,
): readonly ObjectRef[] {
  return cached
    .list(QdrantCollectionRestore, namespace)
    .filter((restore) => !isOver(restore) && isConcerned(restore))
    .map(({ metadata }) => metadata);
}
