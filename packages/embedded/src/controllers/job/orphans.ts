import { controller, isNotFound, Job, type Plan, Pod, type PodStatus, type World } from '@polder/kube';
import { isTerminating } from '../pods/index.ts';
import { isTracked } from './plan/facts.ts';
import { jobSteps } from './steps.ts';

/**
 * Pods that still wait to be counted by a job that is gone, or that let them go: nobody else would ever take our finalizer
 * off them. Asked of the server itself: a job that the cache does not show yet is not gone.
 */
export const orphanedJobPods = controller({
  kind: Pod,
  seesDeleted: true,
  observe: async (pod: Pod, world: World) => ({ isOrphan: mayBeOrphan(pod) && (await isOrphan(pod, world)) }),
  plan: planOrphan,
  steps: { 'untrack-pod': jobSteps['untrack-pod'] },
  status: 'as-planned',
});

type OrphanStep = { readonly do: 'untrack-pod'; readonly because: string; readonly pod: Pod };

/** A deletion of the pod may be seen before, or come before, that of its job. */
const LOOK_AGAIN = { afterMs: 10_000, because: 'its job may go before it counts the pod' };

function planOrphan(pod: Pod, { isOrphan }: { readonly isOrphan: boolean }): Plan<OrphanStep, PodStatus> {
  const because = 'no job is left that would count it';
  return {
    objects: [],
    steps: isOrphan ? [{ do: 'untrack-pod', because, pod }] : [],
    held: [],
    status: pod.status ?? {},
    ...(!isOrphan && mayBeOrphan(pod) && { lookAgain: LOOK_AGAIN }),
  };
}

/** While a pod with an owner is not deleted, there is no hurry: if its job is gone, its deletion follows. */
function mayBeOrphan(pod: Pod): boolean {
  if (!isTracked(pod)) return false;
  const owner = ownerOf(pod);
  return owner === undefined || (owner.kind === Job.kind && isTerminating(pod));
}

const ownerOf = ({ metadata }: Pod) => metadata.ownerReferences?.find(({ controller }) => controller);

async function isOrphan(pod: Pod, { cluster }: World): Promise<boolean> {
  const owner = ownerOf(pod);
  if (!owner) return true;
  const { namespace } = pod.metadata;
  try {
    const job = await cluster.getLive(Job, { name: owner.name, ...(namespace !== undefined && { namespace }) });
    return job.metadata.uid !== owner.uid;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
