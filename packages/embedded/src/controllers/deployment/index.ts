import { controller, Deployment, ReplicaSet } from '@polder/kube';
import { watchUnowned } from '../ownership.ts';
import { observe } from './observe.ts';
import { planDeployment } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { deploymentSteps } from './steps.ts';

export const deployments = controller({
  kind: Deployment,
  reportsAs: 'deployment-controller',
  // Pods are no concern of its own: it knows them by what their sets count.
  owns: [ReplicaSet],
  watches: [watchUnowned(Deployment, ReplicaSet)],
  observe,
  plan: planDeployment,
  steps: deploymentSteps,
  status: 'as-planned',
  failed: statusOfFailure,
  // While its sets keep it (a foreground deletion), its counts go on.
  seesDeleted: true,
});
