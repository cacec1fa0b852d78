import {
  ApiError,
  ConfigMap,
  type Controller,
  controller,
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
import { QdrantCluster, QdrantCollection } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
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
    watches: [
      watch(Pod, ({ metadata }) => labelled(metadata)),
      watch(PersistentVolumeClaim, ({ metadata }) => labelled(metadata)),
      // How many copies there should be is told by its collections; the server tells nobody.
      watch(QdrantCollection, ({ metadata: { namespace }, spec }) => [{ namespace, name: spec.cluster }]),
      // Certificates that users bring themselves.
      watch(Secret, ({ metadata: { namespace, name } }, cached) =>
        cached
          .list(QdrantCluster, namespace)
          .filter(({ spec }) => spec.tls?.secretName === name)
          .map(({ metadata }) => metadata),
      ),
      // Whether the node of a pod is heard of is read when it matters, and so is whether volumes can grow.
      watch(Node, () => []),
      watch(StorageClass, () => []),
    ],
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
  const refs: readonly ObjectRef[] = name === undefined ? [] : [{ ...(namespace && { namespace }), name }];
  return refs;
}

/** The server will say the same the next time. What passes by itself is no news of the cluster. */
const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 403, 413, 422].includes(error.status);
