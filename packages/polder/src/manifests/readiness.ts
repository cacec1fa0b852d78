import type {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  KubernetesObject,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '@polder/kube';
import { loadProducts } from '../products.ts';

/** Whether an object is what it was declared to be, in one line for people. */
export interface Readiness {
  readonly isReady: boolean;
  /** `2 of 3 pods are ready`. */
  readonly because: string;
}

const pods = (ready: number, wanted: number): Readiness => ({
  isReady: ready >= wanted,
  because:
    wanted === 1
      ? ready >= 1
        ? 'its pod is ready'
        : 'its pod is not ready yet'
      : `${ready} of ${wanted} pods are ready`,
});

const UNSEEN: Readiness = { isReady: false, because: 'it has not been looked at yet' };
const THERE: Readiness = { isReady: true, because: 'it is there' };

/** (A method's type: each is called with objects of its own kind alone.) */
type Judge = { judge(object: KubernetesObject): Readiness }['judge'];

/** By kind; every other is judged by its condition Ready, if it has one. */
const JUDGES: Readonly<Record<string, Judge>> = {
  Deployment: ({ spec, status }: Deployment) =>
    pods(Math.min(status?.updatedReplicas ?? 0, status?.availableReplicas ?? 0), spec?.replicas ?? 1),
  StatefulSet: ({ spec, status }: StatefulSet) =>
    pods(Math.min(status?.updatedReplicas ?? 0, status?.readyReplicas ?? 0), spec?.replicas ?? 1),
  DaemonSet: ({ metadata, status }: DaemonSet) =>
    status?.observedGeneration === metadata.generation
      ? pods(status?.numberAvailable ?? 0, status?.desiredNumberScheduled ?? 0)
      : UNSEEN,
  Job: ({ status }: Job) => {
    const done = status?.conditions?.find(
      (one) => one.status === 'True' && (one.type === 'Complete' || one.type === 'Failed'),
    );
    if (done?.type === 'Failed') return { isReady: false, because: `it failed: ${done.message ?? done.reason}` };
    return done
      ? { isReady: true, because: 'it is complete' }
      : { isReady: false, because: `${status?.succeeded ?? 0} pods have succeeded` };
  },
  CronJob: ({ spec }: CronJob) => ({ isReady: true, because: `it starts at ${spec?.schedule}` }),
  Pod: ({ status }: Pod) => {
    const isReady =
      status?.phase === 'Succeeded' ||
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
    const stuck = status?.containerStatuses?.find(({ state }) => state?.waiting?.reason !== undefined);
    const because = stuck
      ? `${stuck.name} waits: ${stuck.state?.waiting?.reason}`
      : `it is ${status?.phase ?? 'Pending'}`;
    return { isReady, because: isReady ? 'it is ready' : because };
  },
  // A claim that waits for its first pod is as it should be.
  PersistentVolumeClaim: ({ status }: PersistentVolumeClaim) => ({
    isReady: status?.phase !== 'Lost',
    because: `it is ${status?.phase ?? 'Pending'}`,
  }),
};

/** Kinds that somebody looks at: one of them that says nothing has not been looked at. */
const products = await loadProducts();
const OURS = new Set(products.flatMap(({ kinds }) => kinds.map(({ kind }) => kind)));

export function readinessOf(object: KubernetesObject & { readonly status?: unknown }): Readiness {
  if (!isObserved(object)) return UNSEEN;
  const judge = JUDGES[object.kind];
  if (judge) return judge(object);
  const ready = conditionsOf(object.status).find(({ type }) => type === 'Ready');
  if (ready === undefined) return OURS.has(object.kind) ? UNSEEN : THERE;
  return { isReady: ready.status === 'True', because: ready.message || ready.reason || `Ready is ${ready.status}` };
}

/** A status from before the last change says nothing about it. */
function isObserved({ metadata, status }: KubernetesObject & { readonly status?: unknown }): boolean {
  if (typeof status !== 'object' || status === null || !('observedGeneration' in status)) return true;
  return Number(status.observedGeneration) >= (metadata.generation ?? 0);
}

interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf(status: unknown): readonly ConditionLike[] {
  if (typeof status !== 'object' || status === null || !('conditions' in status)) return [];
  return Array.isArray(status.conditions) ? status.conditions : [];
}
