import { controller, Deployment, ReplicaSet, watch } from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { observe } from './observe.ts';
import { planDeployment } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { deploymentSteps } from './steps.ts';

export const deployments = controller({
  kind: Deployment,
  reportsAs: 'deployment-controller',
  // Pods are no concern of its own: it knows them by what their sets count.
  owns: [ReplicaSet],
  // A set that nobody controls concerns everyone whose selector matches it.
  watches: [
    watch(ReplicaSet, ({ metadata }, cached) => {
      if (metadata.ownerReferences?.some((owner) => owner.controller)) return [];
      return cached
        .list(Deployment, metadata.namespace)
        .filter(({ spec }) => structuredLabelSelector(spec?.selector ?? {})(metadata.labels ?? {}))
        .map((deployment) => deployment.metadata);
    }),
  ],
  observe,
  plan: planDeployment,
  steps: deploymentSteps,
  status: 'as-planned',
  failed: statusOfFailure,
  // While its sets keep it (a foreground deletion), its counts go on.
  seesDeleted: true,
});
