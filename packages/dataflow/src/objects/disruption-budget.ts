import type { PodDisruptionBudget } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { identityOf, namesOf, selectorOf } from './identity.ts';

/** Nodes are drained of one processor after the other. One that does not work anyway holds no drain up. */
export function disruptionBudget(flow: DataFlow): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: identityOf(flow, namesOf(flow).processor),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selectorOf(flow) },
    },
  };
}
