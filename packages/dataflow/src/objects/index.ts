/** What should exist for a flow, one file for each object: pure, the same workload gives the same objects. */
import type { Deployment, KubernetesObject } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { checkpointConfigMap, checkpointRole, checkpointRoleBinding, processorAccount } from './checkpoint.ts';
import { processorDeployment } from './deployment.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { specConfigMap } from './spec-config-map.ts';
import { specSecret } from './spec-secret.ts';
import type { Workload } from './workload.ts';

export { HASH_ANNOTATION, METRICS_PORT, PROCESSOR } from './deployment.ts';
export { NAME_LABEL, namesOf, namespaceOf } from './identity.ts';
export { SPEC_FILE } from './spec-config-map.ts';
export { type SpecFiles, specFiles } from './spec-files.ts';
export type { Workload } from './workload.ts';

export interface Desired {
  readonly deployment: Deployment;
  /** In the order in which they are applied: the Deployment comes last, so that its pods find all that they mount. */
  readonly objects: readonly KubernetesObject[];
}

export function desired(flow: DataFlow, workload: Workload): Desired {
  const { spec, files, isCheckpointed } = workload;
  const deployment = processorDeployment(flow, workload);
  const objects = [
    ...(isCheckpointed
      ? [checkpointConfigMap(flow), processorAccount(flow), checkpointRole(flow), checkpointRoleBinding(flow)]
      : []),
    specConfigMap(flow, files),
    ...(files.secrets === undefined ? [] : [specSecret(flow, files.secrets)]),
    ...(spec.replicas > 1 ? [disruptionBudget(flow)] : []),
    deployment,
  ];
  return { deployment, objects };
}
