import { controller, PersistentVolume, PersistentVolumeClaim, watch } from '@polder/kube';
import { observe } from './observe.ts';
import { planVolume } from './plan.ts';
import { volumeSteps } from './steps.ts';

/** Says whose each volume is, and what becomes of it when its claim goes. */
export const persistentVolumes = controller({
  kind: PersistentVolume,
  reportsAs: 'persistentvolume-controller',
  watches: [
    watch(PersistentVolumeClaim, ({ metadata: { name, namespace }, spec }, cached) => {
      if (spec?.volumeName) return [{ name: spec.volumeName }];
      // Several may name a claim that has none yet; those that it does not take hear of that with its last state without.
      const isForIt = ({ spec: volume }: PersistentVolume) =>
        volume?.claimRef?.name === name && volume.claimRef.namespace === namespace;
      const volumes = cached.list(PersistentVolume).filter(isForIt);
      return volumes.map(({ metadata }) => metadata);
    }),
  ],
  seesDeleted: true,
  observe,
  plan: planVolume,
  steps: volumeSteps,
  status: 'as-planned',
});
