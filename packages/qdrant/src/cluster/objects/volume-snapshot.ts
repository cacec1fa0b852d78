import type { QdrantCluster } from '../../kinds/index.ts';
import { VolumeSnapshot } from '../foreign-kinds.ts';
import { claimName, identityOf, podName } from './identity.ts';

/** Snapshots that were taken at one moment, of all peers, belong together: by that moment, and by how many there are. */
export const SET_LABEL = 'qdrant.operator/snapshot-set';
const SIZE_LABEL = 'qdrant.operator/snapshot-size';
/** The generation of the spec that asked for one now. */
const GENERATION_LABEL = 'qdrant.operator/snapshot-generation';

/** All snapshots of one moment. */
export interface SnapshotSet {
  /** As it stands in names: `20260301-120000`. */
  readonly stamp: string;
  readonly time: number;
  /** How many it has to have. */
  readonly size: number;
  /** Of the spec that asked for it; none if its time had come. */
  readonly generation: number | undefined;
  readonly members: readonly VolumeSnapshot[];
}

/** Nobody owns them: they are there for the day on which the cluster is gone. */
export function volumeSnapshot(
  cluster: QdrantCluster,
  ordinal: number,
  { stamp, size, generation }: Pick<SnapshotSet, 'stamp' | 'size' | 'generation'>,
): VolumeSnapshot {
  const identity = identityOf(cluster, `${cluster.metadata.name}-snapshot-${stamp}-${ordinal}`);
  const { volumeSnapshots, persistence } = cluster.spec;
  const className = volumeSnapshots?.snapshotClassName ?? persistence?.volumeSnapshotClassName;
  return {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: VolumeSnapshot.kind,
    metadata: {
      ...identity,
      labels: {
        ...identity.labels,
        [SET_LABEL]: stamp,
        [SIZE_LABEL]: String(size),
        ...(generation !== undefined && { [GENERATION_LABEL]: String(generation) }),
      },
      annotations: { 'qdrant.operator/pod': podName(cluster, ordinal) },
    },
    spec: {
      ...(className !== undefined && { volumeSnapshotClassName: className }),
      source: { persistentVolumeClaimName: claimName(cluster, ordinal) },
    },
  };
}

/** From the newest to the oldest. What carries no label of ours is nobody's. */
export function setsIn(snapshots: readonly VolumeSnapshot[]): readonly SnapshotSet[] {
  const here = snapshots.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const sets = Map.groupBy(here, ({ metadata }) => metadata.labels?.[SET_LABEL] ?? '');
  return [...sets]
    .flatMap(([stamp, members]): SnapshotSet[] => {
      const [time, labels = {}] = [timeOf(stamp), members[0]?.metadata.labels];
      const [size, generation] = [labels[SIZE_LABEL], labels[GENERATION_LABEL]];
      if (time === undefined || size === undefined) return [];
      return [
        {
          stamp,
          time,
          size: Number(size),
          generation: generation === undefined ? undefined : Number(generation),
          members,
        },
      ];
    })
    .toSorted((a, b) => b.time - a.time);
}

/** `20260301-120000`: lower case, digits and dashes are all that a name may have. */
export const stampOf = (time: number): string =>
  new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');

function timeOf(stamp: string): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/.exec(stamp) ?? [];
  const [year, month, day, hour, minute, second] = parts.map(Number);
  if (year === undefined || month === undefined) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
