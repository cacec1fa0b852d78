import type { CronJob, Job } from '@polder/kube';
import { endOf } from './status.ts';

/** The finished jobs beyond what the cron job keeps of each kind: the oldest go. */
export function beyondHistory({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = spec;
  return [...oldest(jobs, 'Complete', successfulJobsHistoryLimit), ...oldest(jobs, 'Failed', failedJobsHistoryLimit)];
}

function oldest(jobs: readonly Job[], end: 'Complete' | 'Failed', kept: number): readonly Job[] {
  const finished = jobs.filter((job) => endOf(job) === end).toSorted(byStart);
  const surplus = finished.slice(0, Math.max(0, finished.length - kept));
  return surplus.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Those that never started come last. */
function byStart(a: Job, b: Job): number {
  const [x, y] = [a, b].map(({ status }) => Date.parse(status?.startTime ?? '9999-01-01T00:00:00Z'));
  return (x ?? 0) - (y ?? 0) || (a.metadata.name < b.metadata.name ? -1 : 1);
}
