import type { Known } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { ordinalOf } from '../objects/index.ts';
import type { Observed } from '../observe.ts';
import { type Missing, type Shard, type Sight, sightOf } from './sight.ts';
import type { Through } from './step.ts';

/** What rules judge by: the cluster as it should be, as it was seen, and as it was last remembered. */
export interface Situation {
  readonly cluster: QdrantCluster;
  readonly observed: Observed;
  readonly sight: Sight;
  /** How many pods the StatefulSet has to have; undefined if there is none. */
  readonly size: number | undefined;
  readonly now: Date;
  /** Every pod is made as it would be made now, has what it reads at its start, and is ready. */
  readonly isRolledOut: boolean;
}

export function situationOf(cluster: QdrantCluster, observed: Observed, now: Date): Situation {
  const size = observed.children.set?.spec?.replicas;
  return { cluster, observed, sight: sightOf(cluster, observed), size, now, isRolledOut: false };
}

/** The members as they were last agreed on: what is seen now, or else what the status remembers. */
export function rememberedPods({ cluster, sight }: Situation): readonly string[] {
  const { leader, members, missing } = sight;
  if (leader) return [...members.map(({ pod }) => pod), ...missing.flatMap(({ pod }) => pod ?? [])];
  return cluster.status?.peers?.map(({ pod }) => pod) ?? [];
}

/**
 * So many pods have to run for all members to run. Volumes count where nothing is remembered: a resource that was deleted
 * and made again has no status, and a cluster that was formed must not be formed again.
 */
export function sizeOfMembers(situation: Situation): number {
  const { cluster, observed } = situation;
  const ordinals = rememberedPods(situation).map((pod) => ordinalOf(cluster, pod) ?? -1);
  if (ordinals.length > 0) return Math.max(...ordinals) + 1;
  return Math.max(0, ...[...observed.claims, ...observed.pods].map(({ ordinal }) => ordinal + 1));
}

/** A name for the volume that a peer in a pod has: of its claim, or of the pod if it goes with it. */
export function volumeAt({ cluster, observed }: Situation, ordinal: number): string | undefined {
  if (cluster.spec.persistence) {
    return observed.claims.find((one) => one.ordinal === ordinal && one.volume === 'storage')?.claim.metadata.uid;
  }
  return observed.pods.find((one) => one.ordinal === ordinal)?.pod.metadata.uid;
}

/** Whether the data of a member is gone for good: its pod has another volume than it was last seen with. */
export function isLost(situation: Situation, { id, ordinal }: Missing): boolean {
  if (ordinal === undefined) return false;
  const before = situation.cluster.status?.peers?.find((one) => one.id === id)?.volume;
  const now = volumeAt(situation, ordinal);
  return before !== undefined && now !== undefined && before !== now;
}

export const copiesOn = ({ sight }: Situation, peer: string): readonly Shard[] =>
  sight.shards.filter(({ copies }) => copies.some((one) => one.peer === peer));

/** How many shards each member holds, for choices between them. */
export function loadOf({ sight }: Situation, peer: string): number {
  return sight.shards.filter(({ copies }) => copies.some((one) => one.peer === peer)).length;
}

/** Pods that stay when the cluster has as many as it should. */
export const keepers = ({ cluster, sight }: Situation) =>
  sight.members.filter(({ ordinal }) => ordinal < cluster.spec.replicas);

export const factorOf = ({ observed }: Situation, collection: string): Known<number> => {
  const factors = observed.factors.get(collection);
  if (!factors) return { known: false, because: `nobody was asked how ${collection} is replicated` };
  return factors.known ? { known: true, value: factors.value.replication } : factors;
};

/** How many copies have to take a write; more than there should be copies is what some collections say. */
export const writeFactorOf = ({ observed }: Situation, collection: string): number => {
  const factors = observed.factors.get(collection);
  return factors?.known ? factors.value.writeConsistency : 1;
};

/** Who leads is told what to propose: what others propose is lost if it is on its way when the leader dies. */
export const throughLeader = ({ cluster, sight }: Situation): Through | undefined =>
  sight.leader && { cluster, pod: sight.leader.pod };
