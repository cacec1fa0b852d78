import { CronJob, controller, Job } from '@polder/kube';
import { observe } from './observe.ts';
import { planCronJob } from './plan.ts';
import { cronJobSteps } from './steps.ts';

export const cronJobs = controller({
  kind: CronJob,
  owns: [Job],
  observe,
  plan: planCronJob,
  steps: cronJobSteps,
  status: 'as-planned',
});
