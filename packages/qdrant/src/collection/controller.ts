import { type Controller, controller, type ObjectRef, Secret, UserMustAct, watch } from '@polder/kube';
import { failedCleanup } from '../cleanup.ts';
import { collectionsByCluster, keyIn } from '../indexes.ts';
import { QdrantCluster, QdrantCollection, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { newsOfCluster, newsOfRival } from './news.ts';
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
      watch(
        QdrantCluster,
        ({ metadata: { namespace, name } }, cached) =>
          cached.by(collectionsByCluster, keyIn(namespace, name)).map(refTo),
        newsOfCluster,
      ),
      watch(QdrantCollectionRestore, ({ metadata: { namespace }, spec }) => [{ namespace, name: spec.collection }]),
      // Who waits for an alias hears that it was given up.
      watch(
        QdrantCollection,
        (collection, cached) =>
          cached
            .by(collectionsByCluster, keyIn(collection.metadata.namespace, collection.spec.cluster))
            .filter((one) => isRivalOf(collection, one))
            .map(refTo),
        newsOfRival,
      ),
      // Read when a door is opened; that one changes is told by its cluster.
      watch(Secret, () => []),
    ],
    workers: settings.workers,
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

const refTo = ({ metadata: { namespace, name } }: QdrantCollection): ObjectRef => ({
  ...(namespace !== undefined && { namespace }),
  name,
});

function isRivalOf({ metadata, spec, status }: QdrantCollection, other: QdrantCollection): boolean {
  const aliases = new Set([...(spec.aliases ?? []), ...(status?.aliases ?? [])]);
  return other.metadata.name !== metadata.name && (other.spec.aliases ?? []).some((alias) => aliases.has(alias));
}
