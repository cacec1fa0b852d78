import { controller, Job, Pod } from '@polder/kube';
import { watchUnowned } from '../ownership.ts';
import { observe } from './observe.ts';
import { planJob } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { jobSteps } from './steps.ts';

export { orphanedJobPods } from './orphans.ts';

export const jobs = controller({
  kind: Job,
  reportsAs: 'job-controller',
  owns: [Pod],
  watches: [watchUnowned(Job, Pod)],
  observe,
  plan: planJob,
  steps: jobSteps,
  status: 'as-planned',
  failed: statusOfFailure,
  // Whoever deletes a job in the foreground waits for its pods, which wait for the job to count them.
  seesDeleted: true,
});
