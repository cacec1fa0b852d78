import {
  ConfigMap,
  controller,
  type KubernetesObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  type Watch,
  watch,
} from '@polder/kube';
import type { Kubelet } from './kubelet.ts';
import { namesIn, observe } from './observe.ts';
import { planPod } from './plan.ts';
import { kubeletSteps } from './steps.ts';

/** Runs the pods of our nodes: the kubelet as a controller, like any other. */
export const podController = (kubelet: Kubelet) =>
  controller({
    kind: Pod,
    watches: [
      watch(Node, () => []),
      watch(PersistentVolume, () => []),
      referred(ConfigMap, 'configMaps'),
      referred(Secret, 'secrets'),
      referred(PersistentVolumeClaim, 'claims'),
    ],
    bell: kubelet.bell,
    // Whoever ends a pod has to see it while it is being deleted.
    seesDeleted: true,
    forget: (ref) => kubelet.forget(ref),
    observe,
    plan: planPod,
    steps: kubeletSteps,
    status: 'as-planned',
    // A pass may wait for a container to start.
    workers: 32,
  });

/** A change of what a pod refers to concerns the pod. */
function referred<T extends KubernetesObject>(
  kind: Parameters<typeof watch<T>>[0],
  names: keyof ReturnType<typeof namesIn>,
): Watch {
  return watch(kind, ({ metadata }, cached) =>
    cached
      .list(Pod, metadata.namespace)
      .filter((pod) => namesIn(pod)[names].has(metadata.name))
      .map((pod) => pod.metadata),
  );
}
