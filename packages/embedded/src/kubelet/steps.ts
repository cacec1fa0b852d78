import { type Act, type Container, type Happening, PersistentVolume, Pod } from '@polder/kube';
import { RUNNER_ANNOTATION } from './images.ts';
import type { KubeletWorld } from './observe.ts';
import type { KubeletStep } from './plan.ts';
import { environmentOf } from './references/index.ts';
import { StartFailure } from './runner.ts';

type Steps = { readonly [Name in KubeletStep['do']]: Act<Extract<KubeletStep, { do: Name }>, KubeletWorld> };

const normal = (reason: string, action: string, note: string): Happening => ({ type: 'Normal', reason, action, note });
const warning = (reason: string, action: string, note: string): Happening => ({
  type: 'Warning',
  reason,
  action,
  note,
});

export const kubeletSteps: Steps = {
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

  'resume-container': async ({ pod, container, startedAt, references, facts }, { kubelet }) => {
    await kubelet.resume(pod, container, startedAt, environmentOf(pod, container, references, facts));
  },

  'start-container': async (step, world) => {
    const { pod, container } = step;
    const result = await start(step, world);
    if (result === 'started') world.tell(normal('Started', 'Start', `Container started: ${container.name}`));
    else world.tell(warning('Failed', 'Start', `Error: ${failureNote(container, result)} (pod ${pod.metadata.name})`));
  },

  'stop-container': async ({ pod, container, graceMs, because }, { kubelet, tell }) => {
    kubelet.stop(pod, container, graceMs);
    tell(normal('Killing', 'Kill', because.startsWith('Container') ? because : `Stopping container ${container.name}`));
  },

  'remove-pod': async ({ pod }, { kubelet, cluster }) => {
    await kubelet.clean(pod);
    await cluster.delete(Pod, pod, { gracePeriodSeconds: 0 });
  },
};

async function start(
  { pod, container, references, facts }: Extract<KubeletStep, { do: 'start-container' }>,
  { kubelet }: KubeletWorld,
): Promise<'started' | StartFailure> {
  try {
    return await kubelet.start(pod, container, environmentOf(pod, container, references, facts));
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    kubelet.notStarted(pod, container, error);
    return error;
  }
}

const failureNote = ({ name }: Container, { reason, message }: StartFailure) => `${name}: ${reason}: ${message}`;
