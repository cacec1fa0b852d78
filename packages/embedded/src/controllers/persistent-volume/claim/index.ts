import { controller, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, watch } from '@polder/kube';
import { classOf } from '../binding.ts';
import { claimsOf, observe } from './observe.ts';
import { planClaim } from './plan.ts';
import { claimSteps } from './steps.ts';

/** Finds or makes a volume for each claim, and keeps the claim as long as a pod uses it. */
export const persistentVolumeClaims = controller({
  kind: PersistentVolumeClaim,
  reportsAs: 'persistentvolume-controller',
  watches: [
    watch(PersistentVolume, (volume, cached) => {
      const { name, namespace } = volume.spec?.claimRef ?? {};
      if (name !== undefined) return [{ name, namespace }];
      const isCandidate = (claim: PersistentVolumeClaim) =>
        (classOf(claim) ?? '') === (classOf(volume) ?? '') || claim.spec?.volumeName === volume.metadata.name;
      return refsOf(cached.list(PersistentVolumeClaim).filter((claim) => isWaiting(claim) && isCandidate(claim)));
    }),
    watch(StorageClass, ({ metadata: { name } }, cached) => {
      const isCandidate = (claim: PersistentVolumeClaim) => (classOf(claim) ?? name) === name;
      return refsOf(cached.list(PersistentVolumeClaim).filter((claim) => isWaiting(claim) && isCandidate(claim)));
    }),
    watch(Pod, (pod) => claimsOf(pod).map((name) => ({ name, namespace: pod.metadata.namespace }))),
  ],
  seesDeleted: true,
  observe,
  plan: planClaim,
  steps: claimSteps,
  status: 'as-planned',
});

const isWaiting = ({ status }: PersistentVolumeClaim) => status?.phase !== 'Bound';

const refsOf = (claims: readonly PersistentVolumeClaim[]) => claims.map(({ metadata }) => metadata);
