import {
  type Controller,
  controller,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  type World,
  watch,
} from '@polder/kube';
import { namespaceLabels } from './affinity-term.ts';
import { Occupancy } from './occupancy.ts';
import { type Observed, planPod, type SchedulerStep } from './plan.ts';
import { stateOf } from './pod-state.ts';
import { schedulerSteps } from './steps.ts';
import { claimNamesOf, NO_STORAGE, type Storage } from './volumes.ts';

/**
 * Puts pods on nodes. What it remembers is only a shorter way to what the cache holds: the occupancy of the nodes, kept up
 * from decision to decision. It has to have a field manager of its own: of a pod's status it owns one condition.
 */
export function scheduler(): Controller<Pod, Observed, SchedulerStep, World> {
  const occupancy = new Occupancy();
  const waiting = () => occupancy.waiting.map(({ metadata }) => metadata);

  return controller({
    kind: Pod,
    reportsAs: 'default-scheduler',
    watches: [
      watch(Pod, (pod, cached) => {
        if (!occupancy.isAnyoneWaiting || !occupancy.isNews(pod)) return [];
        const { isRoomier, isFuller } = occupancy.updatePods(cached.list(Pod));
        if (isRoomier) return waiting();
        return isFuller ? occupancy.decided.filter(looksAtPods).map(({ metadata }) => metadata) : [];
      }),
      watch(Node, waiting),
      watch(Namespace, waiting),
      watch(PersistentVolumeClaim, ({ metadata }) => {
        const isUser = (pod: Pod) => pod.metadata.namespace === metadata.namespace && uses(pod, metadata.name);
        return occupancy.waiting.filter(isUser).map((pod) => pod.metadata);
      }),
      watch(PersistentVolume, waiting),
      watch(StorageClass, waiting),
    ],
    observe: async (pod, { cluster }) => {
      if (stateOf(pod) !== 'waiting') return { is: 'aside' };
      const [nodes, pods, namespaces] = await Promise.all([
        cluster.list(Node),
        cluster.list(Pod),
        cluster.list(Namespace),
      ]);
      occupancy.updatePods(pods);
      occupancy.updateNodes(nodes);
      if (!occupancy.takeTurn(pod)) return { is: 'outranked' };
      const storage = claimNamesOf(pod).length === 0 ? NO_STORAGE : await storageOf(pod, cluster);
      return { is: 'waiting', surroundings: { occupancy, namespaces: namespaceLabels(namespaces), storage } };
    },
    plan: planPod,
    steps: schedulerSteps,
    status: 'as-planned',
    // A decision has to see the one before.
    workers: 1,
  });
}

/** Whether other pods that arrive could be what this one waits for. */
function looksAtPods({ spec }: Pod): boolean {
  return spec?.affinity?.podAffinity !== undefined || (spec?.topologySpreadConstraints ?? []).length > 0;
}

const uses = (pod: Pod, claim: string) => claimNamesOf(pod).includes(claim);

async function storageOf({ metadata }: Pod, cluster: World['cluster']): Promise<Storage> {
  const [claims, volumes, classes] = await Promise.all([
    cluster.list(PersistentVolumeClaim, metadata.namespace),
    cluster.list(PersistentVolume),
    cluster.list(StorageClass),
  ]);
  return { claims, volumes, classes };
}
