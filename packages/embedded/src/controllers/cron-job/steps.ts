import { isAlreadyExists, isNotFound, Job, type Steps, type World } from '@polder/kube';
import { explanationOf, isNamespaceGoing } from '../refusals.ts';
import type { CronJobStep } from './plan.ts';

export const cronJobSteps: Steps<CronJobStep, World> = {
  tell: async ({ happening }, world) => world.tell(happening),

  'create-job': async ({ job, owner }, { cluster, tell }) => {
    try {
      const created = await cluster.create(Job, job);
      const note = `Created job ${created.metadata.name}`;
      tell({ type: 'Normal', reason: 'SuccessfulCreate', action: 'Create', note, related: created });
    } catch (error) {
      if (isNamespaceGoing(error)) return;
      const { name = '', namespace = '' } = job.metadata;
      // Made before a crash, by us: that is the start. Somebody else's job of that name takes the place of it.
      const other = isAlreadyExists(error) ? await cluster.getLive(Job, { name, namespace }) : undefined;
      if (other?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid)) return;
      tell({
        type: 'Warning',
        reason: 'FailedCreate',
        action: 'Create',
        note: `Error creating job: ${explanationOf(error)}`,
      });
      if (!other) throw error;
    }
  },

  'delete-job': async ({ job }, { cluster, tell }) => {
    try {
      await cluster.delete(Job, job, { propagationPolicy: 'Background' });
    } catch (error) {
      if (isNotFound(error)) return;
      tell({ type: 'Warning', reason: 'FailedDelete', action: 'Delete', note: `Deleted job: ${explanationOf(error)}` });
      throw error;
    }
    const note = `Deleted job ${job.metadata.name}`;
    tell({ type: 'Normal', reason: 'SuccessfulDelete', action: 'Delete', note, related: job });
  },
};
