import { controller, PersistentVolume, PersistentVolumeClaim, watch } from '@polder/kube';
import { observe } from './observe.ts';
import { planVolume } from './plan.ts';
import { steps } from './steps.ts';

/** Says whose each volume is, and what becomes of it when its claim goes. */
export const persistentVolumes = controller({
  kind: PersistentVolume,
  reportsAs: 'persistentvolume-controller',
  watches: [
    watch(PersistentVolumeClaim, ({ metadata: { name, namespace } }, cached) => {
      const isIts = ({ spec }: PersistentVolume) =>
        spec?.claimRef?.name === name && spec.claimRef.namespace === namespace;
      return cached
        .list(PersistentVolume)
        .filter(isIts)
        .map((volume) => volume.metadata);
    }),
  ],
  seesDeleted: true,
  observe,
  plan: planVolume,
  steps,
  status: 'as-planned',
});
