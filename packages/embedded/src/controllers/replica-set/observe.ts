import { type OwnerReference, Pod, ReplicaSet, type World } from '@polder/kube';

export interface Observed {
  readonly owned: readonly Pod[];
  readonly unowned: readonly Pod[];
  /** Pods of all sets that have the same controller, this one's included. */
  readonly related: readonly Pod[];
}

export async function observe(set: ReplicaSet, { cluster }: World): Promise<Observed> {
  const owned = await cluster.owned(Pod, set);
  const unowned = await cluster.unowned(Pod, set.metadata.namespace);
  const controller = set.metadata.ownerReferences?.find((owner) => owner.controller);
  // Only who has pods to choose from asks about the others.
  const hasSurplus = owned.length + unowned.length > (set.spec?.replicas ?? 1);
  return { owned, unowned, related: controller && hasSurplus ? await podsBelow(controller, cluster) : [] };
}

async function podsBelow(owner: OwnerReference, cluster: World['cluster']): Promise<readonly Pod[]> {
  const { apiVersion, kind, name, uid } = owner;
  const sets = await cluster.owned(ReplicaSet, { apiVersion, kind, metadata: { name, uid } });
  const pods = await Promise.all(sets.map((set) => cluster.owned(Pod, set)));
  return pods.flat();
}
