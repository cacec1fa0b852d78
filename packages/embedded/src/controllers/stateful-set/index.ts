import { ControllerRevision, controller, PersistentVolumeClaim, Pod, StatefulSet, watch } from '@polder/kube';
import { selecting, watchUnowned } from '../ownership.ts';
import { claimSteps } from '../pods/index.ts';
import { revisionSteps } from '../revisions/index.ts';
import { observe } from './observe.ts';
import { planStatefulSet } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { memberSteps } from './steps.ts';

export const statefulSets = controller({
  kind: StatefulSet,
  reportsAs: 'statefulset-controller',
  owns: [Pod, ControllerRevision],
  watches: [
    watchUnowned(StatefulSet, Pod),
    // A claim has the labels of its set's selector; whether it has an owner depends on the retention policy.
    watch(PersistentVolumeClaim, (claim, cached) => selecting(StatefulSet, claim, cached)),
  ],
  observe,
  plan: planStatefulSet,
  steps: { ...claimSteps, ...revisionSteps, ...memberSteps },
  status: 'as-planned',
  failed: statusOfFailure,
  seesDeleted: true,
});
