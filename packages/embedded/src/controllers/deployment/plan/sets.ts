/** What a deployment reads in its sets, and writes into them. */
import type { Deployment, ReplicaSet, ReplicaSetSpec } from '@polder/kube';
import { sizeOf } from '../limits.ts';
import { type Annotations, desiredReplicas } from '../revisions.ts';

/** Sets that have pods, or ought to. */
export const active = (sets: readonly ReplicaSet[]) => sets.filter((set) => sizeOf(set) > 0);

export const total = (sets: readonly ReplicaSet[]) => sets.reduce((sum, set) => sum + sizeOf(set), 0);

/** What it says of its pods, it says knowing how many it is to have. */
export function knowsItsSize({ metadata, status }: ReplicaSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/**
 * As many of its pods are available and stay. A set counts before it acts: of those it counted for its size of today it keeps
 * as many as that; those it counted for another size may be on their way out.
 */
export function availableIn(set: ReplicaSet): number {
  return knowsItsSize(set) ? Math.min(set.status?.availableReplicas ?? 0, sizeOf(set)) : 0;
}

/** By age, and then by name: no two are ever equal. */
export function byAge({ metadata: a }: ReplicaSet, { metadata: b }: ReplicaSet): number {
  const [x, y] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (x !== y) return x < y ? -1 : 1;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** Somebody scaled the deployment since it last scaled this set. */
export function knowsAnotherSize(deployment: Deployment, set: ReplicaSet): boolean {
  const desired = desiredReplicas(set);
  return desired !== undefined && desired !== sizeOf(deployment);
}

export function isUpToDate({ metadata }: ReplicaSet, annotations: Annotations): boolean {
  return Object.entries(annotations).every(([key, value]) => metadata.annotations?.[key] === value);
}

export function annotated(set: ReplicaSet, annotations: Annotations): ReplicaSet {
  return { ...set, metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...annotations } } };
}

/** The set with another spec, which it does not know of yet. */
export function respecified(set: ReplicaSet, spec: Pick<ReplicaSetSpec, 'replicas' | 'minReadySeconds'>): ReplicaSet {
  const generation = (set.metadata.generation ?? 0) + 1;
  return { ...set, metadata: { ...set.metadata, generation }, spec: { selector: {}, ...set.spec, ...spec } };
}
