/** Snapshots on the disks of peers that nobody needs any more. */
import { ordinalOf } from '../cluster/objects/index.ts';
import type { BackupStatus, QdrantCluster, QdrantCollectionBackup } from '../kinds/index.ts';
import type { Observed } from './observe.ts';
import type { BackupStep } from './step.ts';

/** Of pods that do not answer, later. */
export function removingLeftovers(
  backup: QdrantCollectionBackup,
  cluster: QdrantCluster,
  { peers }: Observed,
): readonly BackupStep[] {
  return (backup.status?.leftovers ?? [])
    .filter(({ pod }) => peers.some((peer) => peer.pod === pod && peer.view.known))
    .map((leftover) => {
      const because = `${leftover.pod} may have a snapshot of shard ${leftover.shard} that nobody needs`;
      return { do: 'clear-leftover', because, backup, cluster, leftover };
    });
}

/** What was left on a pod that the cluster has no more is gone with it. */
export function leftAfter(
  { status }: QdrantCollectionBackup,
  cluster: QdrantCluster | undefined,
  cleaning: readonly BackupStep[],
): Pick<BackupStatus, 'leftovers'> {
  const removed = cleaning.map((step) => step.do === 'clear-leftover' && step.leftover);
  const left = (status?.leftovers ?? []).filter((one) => {
    const ordinal = cluster && ordinalOf(cluster, one.pod);
    return !removed.includes(one) && cluster && ordinal !== undefined && ordinal < cluster.spec.replicas;
  });
  return left.length > 0 ? { leftovers: left } : {};
}
