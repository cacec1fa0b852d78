/**
 * Snapshots of volumes, by the operator itself. Those of one moment, one for each peer, are a set: only a whole one is worth
 * anything, so whole ones are what is counted. What was begun and not finished is finished if it is still the same moment.
 */
import { type NewCondition, type StatusOf, timestamp } from '@polder/kube';
import { nextTime, parseSchedule, problemWithSchedule } from '@polder/kube/cron';
import type { QdrantCluster } from '../../kinds/index.ts';
import { type SnapshotSet, setsIn, stampOf, volumeSnapshot } from '../objects/index.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** Volumes that are looked at farther apart than this do not belong together. */
const ONE_MOMENT_MS = 5 * 60_000;

type Remembered = NonNullable<StatusOf<QdrantCluster>['volumeSnapshots']>;

export function takingSnapshots(situation: Situation): readonly ClusterStep[] {
  const { cluster, observed } = situation;
  const due = dueIn(situation);
  if (!due) return [];
  const ordinals = Array.from({ length: due.size }, (_, ordinal) => ordinal);
  const wanted = ordinals.map((ordinal) => volumeSnapshot(cluster, ordinal, due));
  const isThere = (name: string) => due.members.some(({ metadata }) => metadata.name === name);
  const hasClaim = (name: string) => observed.claims.some(({ claim }) => claim.metadata.name === name);
  return wanted
    .filter(({ metadata, spec }) => !isThere(metadata.name) && hasClaim(spec.source.persistentVolumeClaimName))
    .map((snapshot) => ({ do: 'create-volume-snapshot', because: `a set is due: ${due.stamp}`, snapshot }));
}

/** The set that is to be taken now, or to be finished. */
function dueIn(situation: Situation): SnapshotSet | undefined {
  const { cluster, observed, now, size = 0 } = situation;
  if (!isWanted(cluster) || !observed.snapshots.known) return undefined;
  const sets = setsIn(observed.snapshots.value);
  const begun = sets.find((set) => !isFull(set) && now.getTime() - set.time < ONE_MOMENT_MS);
  if (begun) return begun;
  const { generation } = cluster.metadata;
  const isAsked = cluster.spec.volumeSnapshots?.createNow === true && !isTaken(generation, sets, cluster);
  const peers = Math.min(size, observed.claims.filter(({ volume }) => volume === 'storage').length);
  // While it grows, a set would not be of all peers.
  if (peers < cluster.spec.replicas || !(isAsked || isTime(situation, sets))) return undefined;
  const time = Math.floor(now.getTime() / 1000) * 1000;
  return { stamp: stampOf(time), time, size: peers, generation: isAsked ? generation : undefined, members: [] };
}

const isWanted = ({ spec }: QdrantCluster): boolean =>
  spec.volumeSnapshots?.enabled === true && spec.persistence !== undefined;

const isFull = ({ members, size }: SnapshotSet): boolean => members.length >= size;

/** Once for each generation: also if the snapshots were deleted since. */
const isTaken = (generation: number | undefined, sets: readonly SnapshotSet[], { status }: QdrantCluster): boolean =>
  status?.volumeSnapshots?.generation === generation ||
  sets.some((set) => set.generation === generation && isFull(set));

/** The time that was told has come, and no set is as young. A schedule that was changed has told none yet. */
function isTime({ cluster, now }: Situation, sets: readonly SnapshotSet[]): boolean {
  const { schedule, nextTime: told } = cluster.status?.volumeSnapshots ?? {};
  if (told === undefined || schedule !== cluster.spec.volumeSnapshots?.schedule) return false;
  const due = Date.parse(told);
  return now.getTime() >= due && !sets.some((set) => isFull(set) && set.time >= due);
}

/** Every set that is older than as many whole ones as are to be kept. */
export function retiringSnapshots({ cluster, observed }: Situation): readonly ClusterStep[] {
  if (!isWanted(cluster) || !observed.snapshots.known) return [];
  const keep = keptIn(cluster);
  const sets = setsIn(observed.snapshots.value);
  return sets
    .filter((set) => wholeSince(set, sets) >= keep)
    .flatMap(({ members, stamp }) =>
      members.map((snapshot) => ({
        do: 'remove-volume-snapshot' as const,
        because: `${keep} whole sets are younger than ${stamp}`,
        snapshot,
      })),
    );
}

export const keptIn = ({ spec }: QdrantCluster): number => Math.max(1, spec.volumeSnapshots?.retentionCount ?? 7);

/** How many whole sets are younger than this one. */
export const wholeSince = ({ time }: Pick<SnapshotSet, 'time'>, sets: readonly SnapshotSet[]): number =>
  sets.filter((one) => one.time > time && isWhole(one)).length;

const isWhole = (set: SnapshotSet): boolean =>
  isFull(set) && set.members.every(({ status }) => status?.readyToUse === true);

/** What the next pass has to know, and users want to. Steps come before the status: what it says was done. */
export function rememberedSnapshots(situation: Situation): Remembered | undefined {
  const { cluster, observed } = situation;
  const before = cluster.status?.volumeSnapshots;
  if (!isWanted(cluster) || !observed.snapshots.known) return before;
  const due = dueIn(situation);
  const { schedule, createNow } = cluster.spec.volumeSnapshots ?? {};
  const { generation } = cluster.metadata;
  const sets = setsIn(observed.snapshots.value);
  const [newest] = due ? [due] : sets;
  const next = nextIn(situation, due ? [due, ...sets] : sets);
  const wasAsked =
    createNow === true &&
    generation !== undefined &&
    (due?.generation === generation || isTaken(generation, sets, cluster));
  return {
    ...(schedule !== undefined && { schedule }),
    ...(next !== undefined && { nextTime: timestamp(next) }),
    ...(newest ? { lastTime: timestamp(newest.time), lastSet: newest.stamp } : lastOf(before)),
    ...(wasAsked ? { generation } : before?.generation !== undefined && { generation: before.generation }),
  };
}

const lastOf = (before: Remembered | undefined): Remembered => ({
  ...(before?.lastTime !== undefined && { lastTime: before.lastTime }),
  ...(before?.lastSet !== undefined && { lastSet: before.lastSet }),
});

/** When the next set is due: as it was told, until that time has come. */
function nextIn({ cluster, now }: Situation, sets: readonly SnapshotSet[]): number | undefined {
  const { schedule } = cluster.spec.volumeSnapshots ?? {};
  if (schedule === undefined || schedule === '' || problemWithSchedule(schedule) !== undefined) return undefined;
  const before = cluster.status?.volumeSnapshots;
  const told = before?.schedule === schedule && before.nextTime !== undefined ? Date.parse(before.nextTime) : undefined;
  if (told !== undefined && !(told <= now.getTime() && sets.some(({ time }) => time >= told))) return told;
  return nextTime(parseSchedule(schedule), now.getTime(), 'UTC');
}

/** How long until something has to be done for them. */
export function untilSnapshotMs({ now }: Situation, remembered: Remembered | undefined): number {
  const next = remembered?.nextTime;
  return next === undefined ? Number.POSITIVE_INFINITY : Math.max(1_000, Date.parse(next) - now.getTime());
}

const TYPE = 'VolumeSnapshots';

/** A condition of their own: whatever is wrong with them is wrong with nothing else. */
export function snapshotCondition({ cluster, observed }: Situation): readonly NewCondition[] {
  const { volumeSnapshots, persistence } = cluster.spec;
  const said = (status: 'True' | 'False', reason: string, message: string) => [
    { type: TYPE, status, reason, message, ...withGeneration(cluster) },
  ];
  if (!volumeSnapshots?.enabled) {
    const wasSaid = cluster.status?.conditions?.some(({ type }) => type === TYPE);
    return wasSaid ? said('False', 'Disabled', 'spec.volumeSnapshots.enabled is false') : [];
  }
  if (!persistence) return said('False', 'NoVolumes', 'without spec.persistence there are no volumes to take one of');
  const { schedule } = volumeSnapshots;
  const problem = schedule ? problemWithSchedule(schedule) : undefined;
  if (problem !== undefined) return said('False', 'BadSchedule', `spec.volumeSnapshots.schedule: ${problem}`);
  if (!observed.snapshots.known) return said('False', 'Unavailable', observed.snapshots.because);
  const [newest] = setsIn(observed.snapshots.value);
  const failed = newest?.members.find(({ status }) => status?.error !== undefined);
  if (failed) {
    const because = failed.status?.error?.message ?? 'it does not say why';
    return said('False', 'SnapshotFailed', `${failed.metadata.name}: ${because}`);
  }
  return said('True', 'AsPlanned', '');
}

const withGeneration = ({ metadata: { generation } }: QdrantCluster) =>
  generation === undefined ? {} : { observedGeneration: generation };
