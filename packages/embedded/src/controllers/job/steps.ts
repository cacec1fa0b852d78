import { isNotFound, Job, type JobStatus, Pod, removeFinalizer, type Steps, type World } from '@polder/kube';
import { adopt } from '../ownership.ts';
import { claimSteps, createPod } from '../pods/index.ts';
import { explanationOf } from '../refusals.ts';
import { TRACKING } from './names.ts';
import { isTracked } from './plan/facts.ts';
import type { JobStep } from './plan/index.ts';

/** The server did not let a pod be. Says what is true of the job all the same. */
export class CreateFailed extends Error {
  readonly status: JobStatus;

  constructor(message: string, status: JobStatus, options: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export const jobSteps: Steps<JobStep, World> = {
  ...claimSteps,

  /** Tracked by the write that takes it in: an end in between would not be counted. */
  'adopt-pod': ({ pod, by }, { cluster }) => adopt(cluster, Pod, pod, { ...by, finalizer: TRACKING }),

  'create-pod': async ({ pod, otherwise }, world) => {
    await createPod(pod, world).catch((error: unknown) => {
      throw new CreateFailed(explanationOf(error), otherwise, { cause: error });
    });
  },

  'delete-pod': ({ pod }, world) => deletePod(pod, world),

  'discard-pod': async ({ pod }, world) => {
    // Only as we saw it: if it has ended meanwhile, it has to be counted, and somebody else's finalizer has to stay.
    const { uid, resourceVersion, finalizers = [] } = pod.metadata;
    const metadata = { uid, resourceVersion, finalizers: finalizers.filter((one) => one !== TRACKING) };
    const patch = { type: 'merge', body: { metadata } } as const;
    if (isTracked(pod)) await unlessGone(world.cluster.patch(Pod, pod.metadata, patch));
    await deletePod(pod, world);
  },

  'untrack-pod': async ({ pod }, { cluster }) => {
    const outcome = await removeFinalizer(cluster, Pod, pod, TRACKING);
    if (outcome.is !== 'absent') throw new Error(`pod ${pod.metadata.name} changed while it lost its finalizer`);
  },

  'delete-job': async ({ job }, { cluster }) => {
    const { resourceVersion } = job.metadata;
    // Only as we saw it: somebody may have given it more time.
    const preconditions = { ...(resourceVersion !== undefined && { resourceVersion }) };
    await unlessGone(cluster.delete(Job, job, { propagationPolicy: 'Foreground', preconditions }));
  },
};

async function deletePod(pod: Pod, { cluster, tell }: World): Promise<void> {
  await unlessGone(cluster.delete(Pod, pod));
  const note = `Deleted pod: ${pod.metadata.name}`;
  tell({ type: 'Normal', reason: 'SuccessfulDelete', action: 'Delete', note, related: pod });
}

/** Somebody else was faster, which is what was wanted. */
async function unlessGone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
