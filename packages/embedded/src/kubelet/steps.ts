import { PersistentVolume, Pod, type Steps } from '@polder/kube';
import { RUNNER_ANNOTATION } from './images.ts';
import type { KubeletWorld } from './observe.ts';
import type { KubeletStep } from './plan.ts';

export const kubeletSteps: Steps<KubeletStep, KubeletWorld> = {
  tell: async ({ happening, pod }, { tell, kubelet }) => {
    tell(happening);
    kubelet.told(pod, happening);
  },

  'mark-runner': async ({ pod, runner }, { cluster }) => {
    const body = { metadata: { uid: pod.metadata.uid, annotations: { [RUNNER_ANNOTATION]: runner } } };
    await cluster.patch(Pod, pod.metadata, { type: 'merge', body });
  },

  'end-predecessor': async ({ pod }, { kubelet }) => kubelet.endPredecessors(pod),

  'prepare-pod': ({ pod, volumes }, { kubelet }) => kubelet.prepare(pod, volumes),

  'lose-volume': async ({ volume }, { cluster }) => {
    const live = await cluster.get(PersistentVolume, { name: volume });
    // A disk that died asks no finalizer.
    if (!live) return;
    await cluster.patch(PersistentVolume, live.metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
    await cluster.delete(PersistentVolume, live);
  },

  'resume-container': ({ pod, container, startedAt, references, facts }, { kubelet }) =>
    kubelet.resume(pod, container, startedAt, { references, facts }),

  'start-container': async ({ pod, container, references, facts }, { kubelet }) =>
    kubelet.start(pod, container, { references, facts }),

  'stop-container': async ({ pod, container, graceMs, note }, { kubelet, tell }) => {
    kubelet.stop(pod, container, graceMs);
    tell({ type: 'Normal', reason: 'Killing', action: 'Kill', note });
  },

  'remove-pod': async ({ pod }, { kubelet, cluster }) => {
    await kubelet.clean(pod);
    await cluster.delete(Pod, pod, { gracePeriodSeconds: 0 });
  },
};
