/**
 * What consensus keeps the same on all peers: plain data that is never changed in place. Every peer acts on a version of
 * its own, which may be behind that of others.
 */
import type { Json, JsonObject } from '../json.ts';

/** Decimal digits: ids may exceed what a number holds. */
export type PeerId = string;

export type ReplicaState =
  | 'Active'
  | 'Dead'
  | 'Partial'
  | 'Initializing'
  | 'Listener'
  | 'PartialSnapshot'
  | 'Recovery'
  | 'Resharding'
  | 'ReshardingScaleDown'
  | 'ActiveRead'
  | 'ManualRecovery';

export const TRANSFER_METHODS = ['stream_records', 'snapshot', 'wal_delta'] as const;
export type TransferMethod = (typeof TRANSFER_METHODS)[number];

export type ShardKey = string | number;

export interface Transfer {
  /** Tells a transfer from an earlier one of the same shard between the same peers. */
  readonly serial: number;
  readonly shard: number;
  readonly from: PeerId;
  readonly to: PeerId;
  /** True: the source keeps its replica. */
  readonly sync: boolean;
  readonly method: TransferMethod;
}

export interface Shard {
  readonly id: number;
  readonly key?: ShardKey;
  /** May be empty: a shard whose last peer was removed by force still counts, and is listed nowhere. */
  readonly replicas: Readonly<Record<PeerId, ReplicaState>>;
}

export interface Collection {
  /** Tells a collection from an earlier one of the same name. */
  readonly serial: number;
  readonly name: string;
  /** As `GET` tells it. */
  readonly config: JsonObject;
  readonly shards: readonly Shard[];
  readonly transfers: readonly Transfer[];
  /** By field. */
  readonly indexes: Readonly<Record<string, JsonObject>>;
}

export interface ClusterState {
  /** The URI of each member. */
  readonly peers: Readonly<Record<PeerId, string>>;
  /** Members that have not caught up yet: they hear of everything, and nobody waits for them. */
  readonly learners?: readonly PeerId[];
  readonly collections: Readonly<Record<string, Collection>>;
  /** Alias → collection. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, Json>>;
  /** The last number given to a collection or a transfer. */
  readonly serial: number;
}

export const EMPTY: ClusterState = { peers: {}, collections: {}, aliases: {}, metadata: {}, serial: 0 };

export const isLearner = ({ learners }: ClusterState, peer: PeerId): boolean => learners?.includes(peer) ?? false;

/** The members that a majority is made of. */
export const votersIn = (state: ClusterState): readonly PeerId[] =>
  Object.keys(state.peers).filter((peer) => !isLearner(state, peer));

/** The same record without a key. */
export function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  const { [key]: _, ...rest } = record;
  return rest;
}

export const shardsOf = (state: ClusterState): readonly { readonly collection: Collection; readonly shard: Shard }[] =>
  Object.values(state.collections).flatMap((collection) => collection.shards.map((shard) => ({ collection, shard })));

export const hasReplicas = (state: ClusterState, peer: PeerId): boolean =>
  shardsOf(state).some(({ shard }) => peer in shard.replicas);

/** The collection that a name or an alias stands for. */
export function resolve(state: ClusterState, name: string): Collection | undefined {
  const target = Object.hasOwn(state.aliases, name) ? state.aliases[name] : name;
  return target !== undefined && Object.hasOwn(state.collections, target) ? state.collections[target] : undefined;
}

export const peersIn = ({ replicas }: Shard, ...states: readonly ReplicaState[]): readonly PeerId[] =>
  Object.entries(replicas).flatMap(([peer, state]) => (states.includes(state) ? [peer] : []));
