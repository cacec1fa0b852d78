import { createHash } from 'node:crypto';
import { apiVersionOf, type KubernetesObject, type NewCondition } from '@polder/kube';
import type { QdrantCollection } from '../../kinds/index.ts';
import { QdrantCollectionBackup, QdrantCollectionRestore } from '../../kinds/index.ts';
import type { Observed } from '../observe.ts';
import type { CollectionStep } from './step.ts';

/** What the section `snapshots` of a spec amounts to: others make backups and restores, the collection asks for them. */
export interface Children {
  readonly objects: readonly KubernetesObject[];
  readonly steps: readonly CollectionStep[];
  /** Names under which there is something of somebody else. */
  readonly taken: readonly string[];
}

export function childrenOf(collection: QdrantCollection, observed: Observed): Children {
  const { snapshots } = collection.spec;
  const [backup, restore] = [backupOf(collection), restoreOf(collection, observed)];
  const there: readonly (KubernetesObject | undefined)[] = [observed.backup, ...observed.restores];
  const wanted = [...(backup ? [backup] : []), ...(restore ? [restore] : [])];
  const isTaken = ({ kind, metadata }: KubernetesObject) =>
    there.some((one) => one?.kind === kind && one.metadata.name === metadata.name && !isChildOf(collection, one));
  const left = observed.backup && !snapshots && isChildOf(collection, observed.backup) ? [observed.backup] : [];
  const asked = restoreName(collection);
  const done = observed.restores.filter((one) => isChildOf(collection, one) && one.metadata.name !== asked);
  return {
    objects: wanted.filter((one) => !isTaken(one)),
    steps: [...left, ...done]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((child) => ({
        do: 'remove-child',
        because: `spec.snapshots does not ask for ${child.kind} ${child.metadata.name}`,
        child,
      })),
    taken: wanted.filter(isTaken).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  };
}

export const isChildOf = ({ metadata: { uid } }: QdrantCollection, child: KubernetesObject): boolean =>
  uid !== undefined && (child.metadata.ownerReferences ?? []).some((one) => one.controller && one.uid === uid);

/** Of its own for each backup that is gone back to: to name one again, later, restores it again. */
export function restoreName({ metadata, spec }: QdrantCollection): string | undefined {
  const id = spec.snapshots?.restoreSnapshotName ?? '';
  if (id === '') return undefined;
  const suffix = `-restore-${createHash('sha256').update(id).digest('hex').slice(0, 10)}`;
  return `${metadata.name.slice(0, LONGEST_NAME - suffix.length)}${suffix}`;
}

const LONGEST_NAME = 253;

function backupOf({ metadata, spec }: QdrantCollection): KubernetesObject | undefined {
  if (!spec.snapshots) return undefined;
  const { restoreSnapshotName: _, ...snapshots } = spec.snapshots;
  const object = {
    ...identity(QdrantCollectionBackup, metadata, metadata.name),
    spec: {
      cluster: spec.cluster,
      collectionName: metadata.name,
      snapshots,
      ...(snapshots.backupNow && metadata.generation !== undefined && { request: metadata.generation }),
    },
  };
  return object;
}

function restoreOf(collection: QdrantCollection, { restores }: Observed): KubernetesObject | undefined {
  const name = restoreName(collection);
  if (name === undefined) return undefined;
  const { metadata, spec, status } = collection;
  // Whoever deleted the record of a restore did not ask for the points that came since to be lost.
  const isDone = status?.restore?.name === name && status.restore.phase === 'Completed';
  if (isDone && !restores.some((one) => one.metadata.name === name)) return undefined;
  const backupId = spec.snapshots?.restoreSnapshotName ?? '';
  const object = {
    ...identity(QdrantCollectionRestore, metadata, name),
    spec: { collection: metadata.name, cluster: spec.cluster, backupId },
  };
  return object;
}

const identity = (
  kind: typeof QdrantCollectionBackup | typeof QdrantCollectionRestore,
  { namespace }: QdrantCollection['metadata'],
  name: string,
) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { ...(namespace && { namespace }), name } });

/** How backups and the restore are doing, in the collection's own status. */
export function outcomesOf(collection: QdrantCollection, { backup, restores }: Observed) {
  const { status } = collection;
  const own = backup && isChildOf(collection, backup) ? backup.status?.lastBackup : undefined;
  const lastBackup = own ?? status?.lastBackup;
  const name = restoreName(collection);
  const restore = restores.find((one) => one.metadata.name === name && isChildOf(collection, one));
  const backupId = collection.spec.snapshots?.restoreSnapshotName ?? '';
  const { phase, message, error } = restore?.status ?? {};
  const said = error ?? message;
  const told = restore && {
    name: restore.metadata.name,
    backupId,
    ...(phase !== undefined && { phase }),
    ...(said !== undefined && { message: said }),
  };
  const shown = told ?? (status?.restore?.name === name ? status?.restore : undefined);
  return { ...(lastBackup && { lastBackup }), ...(shown && { restore: shown }) };
}

export function snapshotsCondition(taken: readonly string[]): NewCondition {
  const type = 'SnapshotsInPlace';
  if (taken.length === 0) return { type, status: 'True', reason: 'AsDeclared', message: '' };
  const message = `${taken.join(' and ')} ${taken.length > 1 ? 'belong' : 'belongs'} to somebody else; delete it, or rename the collection`;
  return { type, status: 'False', reason: 'NameTaken', message };
}
