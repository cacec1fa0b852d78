import { type CronJob, Job, type World } from '@polder/kube';

export interface Observed {
  /** The jobs that the cron job controls, whoever made them. */
  readonly jobs: readonly Job[];
}

export async function observe(cronJob: CronJob, { cluster }: World): Promise<Observed> {
  return { jobs: await cluster.owned(Job, cronJob) };
}
