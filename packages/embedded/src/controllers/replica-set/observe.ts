import { Pod, type ReplicaSet, type World } from '@polder/kube';

export interface Observed {
  readonly owned: readonly Pod[];
  readonly unowned: readonly Pod[];
}

export async function observe(set: ReplicaSet, { cluster }: World): Promise<Observed> {
  return { owned: await cluster.owned(Pod, set), unowned: await cluster.unowned(Pod, set.metadata.namespace) };
}
