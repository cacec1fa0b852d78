import { type Cached, type Controller, controller, type ObjectRef, Secret, UserMustAct, watch } from '@polder/kube';
import { failedCleanup } from '../cleanup.ts';
import { QdrantCluster, QdrantCollection, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { type CollectionWorld, type Observed, observeCollection } from './observe.ts';
import { type CollectionStep, planCollection } from './plan/index.ts';
import { collectionSteps } from './steps.ts';

/** Makes a collection in its cluster for each QdrantCollection, and keeps it as it is declared. */
export function collections(
  settings: Settings,
): Controller<QdrantCollection, Observed, CollectionStep, CollectionWorld> {
  return controller({
    kind: QdrantCollection,
    reportsAs: 'qdrant-operator',
    finalizer: 'qdrant.operator/finalizer',
    owns: [QdrantCollectionBackup, QdrantCollectionRestore],
    watches: [
      watch(QdrantCluster, ({ metadata: { namespace, name } }, cached) =>
        collectionsIn(cached, namespace)
          .filter((one) => one.spec.cluster === name)
          .map(refTo),
      ),
      watch(QdrantCollectionRestore, ({ metadata: { namespace }, spec }) => [{ namespace, name: spec.collection }]),
      // Who waits for an alias hears that it was given up.
      watch(QdrantCollection, (collection, cached) =>
        collectionsIn(cached, collection.metadata.namespace)
          .filter((one) => isRivalOf(collection, one))
          .map(refTo),
      ),
      // Read when a door is opened; that one changes is told by its cluster.
      watch(Secret, () => []),
    ],
    observe: observeCollection,
    plan: (collection, observed, now) => planCollection(collection, observed, settings, now),
    steps: collectionSteps,
    failed: (collection, error) => ({
      ...collection.status,
      ...(error instanceof UserMustAct && {
        qdrantStatus: 'Error',
        reason: error.reason,
        errorMessage: error.message,
      }),
      ...failedCleanup(collection, error),
    }),
  });
}

const collectionsIn = (cached: Cached, namespace: string | undefined) => cached.list(QdrantCollection, namespace);

const refTo = ({ metadata: { namespace, name } }: QdrantCollection): ObjectRef => ({
  ...(namespace !== undefined && { namespace }),
  name,
});

function isRivalOf({ metadata, spec, status }: QdrantCollection, other: QdrantCollection): boolean {
  const aliases = new Set([...(spec.aliases ?? []), ...(status?.aliases ?? [])]);
  const isOther = other.metadata.name !== metadata.name && other.spec.cluster === spec.cluster;
  return isOther && (other.spec.aliases ?? []).some((alias) => aliases.has(alias));
}
