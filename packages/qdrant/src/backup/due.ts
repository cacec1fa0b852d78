/** When a backup is due, and when there is anything to look at: pure functions of a resource and the time. */
import { type Condition, timestamp } from '@polder/kube';
import { nextTime, parseSchedule, problemWithSchedule } from '@polder/kube/cron';
import type { CurrentBackup, QdrantCollectionBackup } from '../kinds/index.ts';

type Backup = QdrantCollectionBackup;

export type Trigger = CurrentBackup['trigger'];

/** What no backup could be made by, in words for the user. */
export function problemWith({ spec: { collectionName, snapshots } }: Backup): string | undefined {
  const problem = lineOf(snapshots) === '' ? undefined : problemWithSchedule(lineOf(snapshots));
  if (problem !== undefined) return `spec.snapshots.backupSchedule: ${problem}`;
  // No URL, and so no key of a bucket, can have them in it.
  if (collectionName === '.' || collectionName === '..') return `spec.collectionName: ${collectionName} is no name`;
  const { protocol } = URL.parse(snapshots.s3EndpointURL) ?? {};
  if (protocol === 'http:' || protocol === 'https:') return undefined;
  return `spec.snapshots.s3EndpointURL: ${snapshots.s3EndpointURL} is no URL that begins with http:// or https://`;
}

/** Why one should begin now. */
export function dueOf(backup: Backup, now: number): Trigger | undefined {
  if (backup.spec.snapshots.backupNow && !isAnswered(backup)) return 'Now';
  const next = nextBackupOf(backup, now);
  return next !== undefined && next <= now ? 'Schedule' : undefined;
}

/** Any backup that was begun for this generation and request is the one that they asked for. */
function isAnswered({ metadata, spec, status }: Backup): boolean {
  const isIt = (one: { generation: number; request?: number | undefined } | undefined) =>
    one !== undefined && one.generation === metadata.generation && one.request === spec.request;
  return isIt(status?.lastBackup) || isIt(status?.current);
}

/**
 * Found once for each schedule, and kept: however many times have passed since, one backup makes up for all of them. In UTC.
 * Undefined: there is none.
 */
export function nextBackupOf({ spec: { snapshots }, status }: Backup, now: number): number | undefined {
  const line = lineOf(snapshots);
  if (line !== '' && status?.schedule === line && status.nextBackup !== undefined) return Date.parse(status.nextBackup);
  return nextAfter(snapshots, now);
}

export function nextAfter(snapshots: Backup['spec']['snapshots'], now: number): number | undefined {
  const line = lineOf(snapshots);
  return line === '' ? undefined : nextTime(parseSchedule(line), now, 'UTC');
}

export const lineOf = ({ backupSchedule = '' }: Backup['spec']['snapshots']): string => backupSchedule.trim();

export const timeText = (time: number | undefined) => (time === undefined ? undefined : timestamp(time));

/** By what an attempt may succeed that failed before: another spec, other credentials. */
export const versionOf = ({ metadata }: Backup, credentials: string): string => `${metadata.generation}/${credentials}`;

/** After a failure, while nothing changed that could help: until when nothing is attempted. */
export function pauseOf(backup: Backup, credentials: string, now: number): number | undefined {
  const { retryAt, retryVersion } = backup.status?.current ?? {};
  if (retryAt === undefined || retryVersion !== versionOf(backup, credentials)) return undefined;
  const until = Date.parse(retryAt);
  return until > now ? until : undefined;
}

/** Whether bucket and peers are worth a look. One that is idle and well costs nobody a request. */
export function isLookDue(backup: Backup, credentials: string, now: number): boolean {
  const { metadata, status } = backup;
  if (problemWith(backup) !== undefined) return false;
  if (metadata.deletionTimestamp !== undefined) return true;
  const trigger = dueOf(backup, now);
  if (status?.current) return pauseOf(backup, credentials, now) === undefined || trigger === 'Schedule';
  if (trigger !== undefined || (status?.leftovers ?? []).length > 0) return true;
  const ready = status?.conditions?.find(({ type }: Condition) => type === 'Ready');
  return status?.observedGeneration !== metadata.generation || ready?.status !== 'True';
}
