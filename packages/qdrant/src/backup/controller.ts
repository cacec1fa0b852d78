import {
  type Cached,
  type Controller,
  controller,
  type KubernetesObject,
  type ObjectRef,
  Pod,
  Secret,
  StatefulSet,
  watch,
} from '@polder/kube';
import { failedCleanup } from '../cleanup.ts';
import { QdrantCluster, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { statusAfter } from './failure.ts';
import { type BackupWorld, type Observed, observeBackup } from './observe.ts';
import { planBackup } from './plan.ts';
import type { BackupStep } from './step.ts';
import { backupSteps } from './steps.ts';

/** A shard is copied in one pass. One that stands still is given up much sooner, by those that wait for its next byte. */
const PASS_TIMEOUT_MS = 12 * 3_600_000;

/** Passes that copy shards take long; they must not keep all others waiting. */
const WORKERS = 8;

/** Makes backups of collections, when they are asked for and when they are due. */
export function backups(settings: Settings): Controller<QdrantCollectionBackup, Observed, BackupStep, BackupWorld> {
  return controller({
    kind: QdrantCollectionBackup,
    reportsAs: 'qdrant-operator',
    finalizer: 'qdrant.operator/unfinished-backup',
    needsFinalizer: ({ status }) => status?.current !== undefined || (status?.leftovers ?? []).length > 0,
    watches: [
      watch(Secret, ({ metadata }, cached) =>
        those(metadata, cached, ({ spec }) => spec.snapshots.s3CredentialsSecretName === metadata.name),
      ),
      watch(QdrantCluster, ({ metadata }, cached) =>
        those(metadata, cached, ({ spec }) => spec.cluster === metadata.name),
      ),
      watch(QdrantCollectionRestore, ({ metadata, spec: restored }, cached) =>
        those(
          metadata,
          cached,
          ({ spec }) => spec.cluster === restored.cluster && spec.collectionName === restored.collection,
        ),
      ),
      // Where peers are is read when it matters.
      watch(StatefulSet, () => []),
      watch(Pod, () => []),
    ],
    workers: WORKERS,
    timeoutMs: PASS_TIMEOUT_MS,
    observe: observeBackup,
    plan: (backup, observed, now) => planBackup(backup, observed, now, settings),
    steps: backupSteps,
    failed: (backup, error, now) => ({ ...statusAfter(backup, error, now), ...failedCleanup(backup, error) }),
  });
}

function those(
  { namespace }: KubernetesObject['metadata'],
  cached: Cached,
  isMeant: (backup: QdrantCollectionBackup) => boolean,
): readonly ObjectRef[] {
  const meant = cached.list(QdrantCollectionBackup, namespace).filter(isMeant);
  return meant.map(({ metadata }) => ({
    ...(metadata.namespace && { namespace: metadata.namespace }),
    name: metadata.name,
  }));
}
