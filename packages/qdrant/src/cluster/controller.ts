import {
  ApiError,
  ConfigMap,
  type Controller,
  controller,
  headOf,
  heed,
  type KubernetesObject,
  NetworkPolicy,
  Node,
  type ObjectRef,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
  watch,
} from '@polder/kube';
import { failedCleanup } from '../cleanup.ts';
import { clustersByCertificate, keyIn } from '../indexes.ts';
import { QdrantCluster, QdrantCollection, QdrantCollectionRestore } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { newsOfClaim, newsOfCollection, newsOfPod, newsOfRestore, newsOfSet } from './news.ts';
import { NAME_LABEL } from './objects/index.ts';
import { type ClusterWorld, type Observed, observeCluster } from './observe.ts';
import { type ClusterStep, happeningOf, planCluster } from './plan/index.ts';
import { clusterSteps } from './steps.ts';

/** Forms a cluster of peers for each QdrantCluster, and changes it while it runs. */
export function clusters(settings: Settings): Controller<QdrantCluster, Observed, ClusterStep, ClusterWorld> {
  return controller({
    kind: QdrantCluster,
    reportsAs: 'qdrant-operator',
    finalizer: 'qdrant.operator/finalizer',
    owns: [Secret, ConfigMap, Service, NetworkPolicy, PodDisruptionBudget, StatefulSet],
    heeds: [
      heed(StatefulSet, newsOfSet),
      heed(PodDisruptionBudget, (budget) => [headOf(budget), budget.spec]),
      // All of these matters, but for what we write ourselves: what comes of it is heard of pods.
      ...[Secret, ConfigMap, Service, NetworkPolicy].map((kind) => heed<KubernetesObject>(kind, (object) => object)),
    ],
    watches: [
      watch(Pod, ({ metadata }) => labelled(metadata), newsOfPod),
      watch(PersistentVolumeClaim, ({ metadata }) => labelled(metadata), newsOfClaim),
      // How many copies there should be is told by its collections; the server tells nobody.
      watch(QdrantCollection, ({ metadata, spec }) => [refIn(metadata.namespace, spec.cluster)], newsOfCollection),
      watch(QdrantCollectionRestore, ({ metadata, spec }) => [refIn(metadata.namespace, spec.cluster)], newsOfRestore),
      // Certificates that users bring themselves.
      watch(Secret, ({ metadata: { namespace, name } }, cached) =>
        cached.by(clustersByCertificate, keyIn(namespace, name)).map(({ metadata }) => metadata),
      ),
      // Whether the node of a pod is heard of is read when it matters, and so is whether volumes can grow.
      watch(Node, () => []),
      watch(StorageClass, () => []),
    ],
    workers: settings.workers,
    observe: observeCluster,
    plan: (cluster, observed, now) => planCluster(cluster, observed, settings, now),
    steps: clusterSteps,
    tells: happeningOf,
    failed: (cluster, error) => ({
      ...cluster.status,
      ...(isRefused(error) && {
        qdrantStatus: 'Error',
        reason: 'Refused',
        errorMessage: `the API server refused what the cluster needs: ${error.explanation}`,
      }),
      ...failedCleanup(cluster, error),
    }),
  });
}

function labelled({ namespace, labels }: { namespace?: string; labels?: Readonly<Record<string, string>> }) {
  const name = labels?.[NAME_LABEL];
  return name === undefined ? [] : [refIn(namespace, name)];
}

const refIn = (namespace: string | undefined, name: string): ObjectRef => ({ ...(namespace && { namespace }), name });

/** The server will say the same the next time. What passes by itself is no news of the cluster. */
const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 403, 413, 422].includes(error.status);
