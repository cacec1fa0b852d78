import { controller, Pod, ReplicaSet } from '@polder/kube';
import { watchUnowned } from '../ownership.ts';
import { observe } from './observe.ts';
import { planReplicaSet } from './plan.ts';
import { statusOfFailure } from './status.ts';
import { replicaSetSteps } from './steps.ts';

export const replicaSets = controller({
  kind: ReplicaSet,
  reportsAs: 'replicaset-controller',
  owns: [Pod],
  watches: [watchUnowned(ReplicaSet, Pod)],
  observe,
  plan: planReplicaSet,
  steps: replicaSetSteps,
  status: 'as-planned',
  // While pods keep it (a foreground deletion), its counts go on.
  seesDeleted: true,
  failed: statusOfFailure,
});
