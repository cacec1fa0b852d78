import { CronJob, type Job, type NewObject, ownerReference } from '@polder/kube';
import { formatInZone } from '@polder/kube/cron';

const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The same start always has the same name, so that it can't be made twice. */
export const jobNameAt = ({ metadata }: CronJob, time: number) => `${metadata.name}-${Math.floor(time / 60_000)}`;

export function scheduledJob(cronJob: CronJob, time: number, zone: string): NewObject<Job> {
  const { metadata: template, spec } = cronJob.spec.jobTemplate;
  const { namespace } = cronJob.metadata;
  return {
    metadata: {
      name: jobNameAt(cronJob, time),
      ...(namespace !== undefined && { namespace }),
      ...(template?.labels && { labels: template.labels }),
      annotations: { ...template?.annotations, [SCHEDULED]: formatInZone(time, zone) },
      ownerReferences: [ownerReference(CronJob, cronJob)],
    },
    ...(spec && { spec }),
  };
}

/** The start for which the cron job's schedule made this job, in milliseconds since the epoch; undefined if it did not. */
export function startOf(cronJob: CronJob, { metadata }: Job): number | undefined {
  const time = Date.parse(metadata.annotations?.[SCHEDULED] ?? '');
  return metadata.name === jobNameAt(cronJob, time) ? time : undefined;
}
