import { controller, Job, Pod, watch } from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { observe } from './observe.ts';
import { planJob } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { jobSteps } from './steps.ts';

export { orphanedJobPods } from './orphans.ts';

export const jobs = controller({
  kind: Job,
  owns: [Pod],
  // A pod that nobody controls concerns everyone whose selector matches it.
  watches: [
    watch(Pod, ({ metadata }, cached) => {
      if (metadata.ownerReferences?.some((owner) => owner.controller)) return [];
      return cached
        .list(Job, metadata.namespace)
        .filter(({ spec }) => structuredLabelSelector(spec?.selector ?? {})(metadata.labels ?? {}))
        .map((job) => job.metadata);
    }),
  ],
  observe,
  plan: planJob,
  steps: jobSteps,
  status: 'as-planned',
  failed: statusOfFailure,
  // Whoever deletes a job in the foreground waits for its pods, which wait for the job to count them.
  seesDeleted: true,
});
