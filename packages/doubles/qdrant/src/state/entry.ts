import type { Json, JsonObject } from '../json.ts';
import type { ClusterState, PeerId, ReplicaState, ShardKey, TransferMethod } from './cluster-state.ts';

export interface TransferKey {
  readonly shard: number;
  readonly from: PeerId;
  readonly to: PeerId;
  /** Only if it is still this one, and not a later one between the same peers. */
  readonly serial?: number;
}

/** One entry of the log that peers agree on. */
export type Entry =
  /** Also how a member announces that its URI changed. `replaces`: who had this URI before, and holds nothing. */
  | { readonly do: 'add-peer'; readonly peer: PeerId; readonly uri: string; readonly replaces?: PeerId }
  /** Whoever joined has caught up: from now on its vote counts. */
  | { readonly do: 'promote-peer'; readonly peer: PeerId }
  | { readonly do: 'remove-peer'; readonly peer: PeerId }
  | CollectionEntry
  | ShardEntry
  | { readonly do: 'put-metadata'; readonly key: string; readonly value: Json };

export type CollectionEntry =
  | {
      readonly do: 'create-collection';
      readonly collection: string;
      readonly config: JsonObject;
      /** The peers of each shard, in the order of their ids. */
      readonly placement: readonly (readonly PeerId[])[];
    }
  | { readonly do: 'update-collection'; readonly collection: string; readonly patch: JsonObject }
  | { readonly do: 'delete-collection'; readonly collection: string }
  | { readonly do: 'change-aliases'; readonly actions: readonly AliasAction[] }
  | { readonly do: 'put-index'; readonly collection: string; readonly field: string; readonly schema: JsonObject }
  | { readonly do: 'delete-index'; readonly collection: string; readonly field: string }
  | {
      readonly do: 'put-vector';
      readonly collection: string;
      readonly vector: string;
      readonly kind: 'dense' | 'sparse';
      readonly config: JsonObject;
    }
  | { readonly do: 'delete-vector'; readonly collection: string; readonly vector: string };

export type AliasAction =
  | { readonly is: 'create'; readonly alias: string; readonly collection: string }
  | { readonly is: 'delete'; readonly alias: string }
  | { readonly is: 'rename'; readonly alias: string; readonly to: string };

export type ShardEntry =
  | (TransferKey & {
      readonly do: 'start-transfer';
      readonly collection: string;
      readonly sync: boolean;
      /** Whoever submits it has to choose; an entry without one can be applied by nobody. */
      readonly method: TransferMethod | undefined;
    })
  | (TransferKey & {
      readonly do: 'restart-transfer';
      readonly collection: string;
      readonly method: TransferMethod;
    })
  /** `recovered`: the target has the snapshot and now gets what was written meanwhile. */
  | (TransferKey & {
      readonly do: 'recovered-transfer' | 'finish-transfer' | 'abort-transfer';
      readonly collection: string;
    })
  | {
      readonly do: 'set-replica';
      readonly collection: string;
      readonly shard: number;
      readonly peer: PeerId;
      readonly to: ReplicaState;
      /** Only if it is in this state. */
      readonly from?: ReplicaState;
    }
  | { readonly do: 'drop-replica'; readonly collection: string; readonly shard: number; readonly peer: PeerId }
  | {
      readonly do: 'create-shard-key';
      readonly collection: string;
      readonly key: ShardKey;
      readonly placement: readonly (readonly PeerId[])[];
      readonly state: ReplicaState;
    }
  | { readonly do: 'drop-shard-key'; readonly collection: string; readonly key: ShardKey };

/** Why a request is not done, as its caller reads it. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
}

export type Applied =
  | { readonly is: 'done'; readonly state: ClusterState; readonly value: boolean }
  /** The caller is told; the log goes on. The state may have changed all the same: entries are not atomic. */
  | { readonly is: 'refused'; readonly state: ClusterState; readonly refusal: Refusal }
  /** An internal error: nobody can get past this entry, so that consensus stops everywhere. */
  | { readonly is: 'broken'; readonly because: string };

export const done = (state: ClusterState, value = true): Applied => ({ is: 'done', state, value });
export const refused = (state: ClusterState, status: number, error: string): Applied => ({
  is: 'refused',
  state,
  refusal: { status, error },
});
export const badRequest = (state: ClusterState, text: string) => refused(state, 400, `Bad request: ${text}`);
export const noCollection = (state: ClusterState, name: string) =>
  refused(state, 404, `Not found: Collection \`${name}\` doesn't exist!`);
