import { controller, Pod, ReplicaSet, watch } from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { claimSteps } from '../pods/index.ts';
import { observe } from './observe.ts';
import { planReplicaSet } from './plan.ts';
import { statusOfFailure } from './status.ts';
import { createPod, deletePod } from './steps.ts';

export const replicaSets = controller({
  kind: ReplicaSet,
  reportsAs: 'replicaset-controller',
  owns: [Pod],
  // A pod that nobody controls concerns everyone whose selector matches it.
  watches: [
    watch(Pod, ({ metadata }, cached) => {
      if (metadata.ownerReferences?.some((owner) => owner.controller)) return [];
      const sets = cached.list(ReplicaSet, metadata.namespace);
      return sets
        .filter(({ spec }) => structuredLabelSelector(spec?.selector ?? {})(metadata.labels ?? {}))
        .map((set) => set.metadata);
    }),
  ],
  observe,
  plan: planReplicaSet,
  steps: { ...claimSteps, 'create-pod': createPod, 'delete-pod': deletePod },
  status: 'as-planned',
  // While pods keep it (a foreground deletion), its counts go on.
  seesDeleted: true,
  failed: statusOfFailure,
});
