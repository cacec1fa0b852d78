import {
  type Cached,
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
 * from decision to decision. Its own field manager is expected (`kube-scheduler`): it owns one condition of a pod's status.
 */
export function scheduler(): Controller<Pod, Observed, SchedulerStep, World> {
  const occupancy = new Occupancy();
  const refused = () => occupancy.refused.map(({ metadata }) => metadata);
  const withClaims = (cached: Cached, namespace?: string) =>
    cached.list(Pod, namespace).filter((pod) => isWaiting(pod) && claimNamesOf(pod).length > 0);

  return controller({
    kind: Pod,
    watches: [
      // One that is being decided on need not be told: what is written about it brings it back.
      watch(Pod, (pod, cached) => {
        if (occupancy.refused.length === 0 || !occupancy.isNews(pod)) return [];
        const { isRoomier, isFuller } = occupancy.updatePods(cached.list(Pod));
        if (isRoomier) return refused();
        return isFuller ? occupancy.refused.filter(looksAtPods).map(({ metadata }) => metadata) : [];
      }),
      watch(Node, refused),
      watch(Namespace, refused),
      watch(PersistentVolumeClaim, ({ metadata }, cached) =>
        withClaims(cached, metadata.namespace)
          .filter((pod) => claimNamesOf(pod).includes(metadata.name))
          .map((pod) => pod.metadata),
      ),
      watch(PersistentVolume, (_volume, cached) => withClaims(cached).map(({ metadata }) => metadata)),
      watch(StorageClass, (_class, cached) => withClaims(cached).map(({ metadata }) => metadata)),
    ],
    observe: async (pod, { cluster }) => {
      const state = stateOf(pod);
      if (state === 'gated') return { is: 'gated' };
      if (!isWaiting(pod)) return { is: 'aside' };
      const [nodes, pods, namespaces] = await Promise.all([
        cluster.list(Node),
        cluster.list(Pod),
        cluster.list(Namespace),
      ]);
      const storage = claimNamesOf(pod).length === 0 ? NO_STORAGE : await storageOf(pod, cluster);
      occupancy.updateNodes(nodes);
      occupancy.updatePods(pods);
      return { is: 'waiting', surroundings: { occupancy, namespaces: namespaceLabels(namespaces), storage } };
    },
    plan: planPod,
    steps: schedulerSteps,
    status: 'as-planned',
    // A decision has to see the one before.
    workers: 1,
  });
}

function isWaiting(pod: Pod): boolean {
  const state = stateOf(pod);
  return state === 'untried' || state === 'refused' || state === 'choosing';
}

/** Whether other pods that arrive could be what this one waits for. */
function looksAtPods({ spec }: Pod): boolean {
  return spec?.affinity?.podAffinity !== undefined || (spec?.topologySpreadConstraints ?? []).length > 0;
}

async function storageOf({ metadata }: Pod, cluster: World['cluster']): Promise<Storage> {
  const [claims, volumes, classes] = await Promise.all([
    cluster.list(PersistentVolumeClaim, metadata.namespace),
    cluster.list(PersistentVolume),
    cluster.list(StorageClass),
  ]);
  return { claims, volumes, classes };
}
