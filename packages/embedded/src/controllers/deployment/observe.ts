import { type Deployment, ReplicaSet, type World } from '@polder/kube';
import { nameOfNewSet } from './plan/current-set.ts';

export interface Observed {
  readonly owned: readonly ReplicaSet[];
  readonly unowned: readonly ReplicaSet[];
  /** What already has the name that a new set would get. */
  readonly namesake: ReplicaSet | undefined;
}

export async function observe(deployment: Deployment, { cluster }: World): Promise<Observed> {
  const { namespace } = deployment.metadata;
  return {
    owned: await cluster.owned(ReplicaSet, deployment),
    unowned: await cluster.unowned(ReplicaSet, namespace),
    namesake: await cluster.get(ReplicaSet, { namespace, name: nameOfNewSet(deployment) }),
  };
}
