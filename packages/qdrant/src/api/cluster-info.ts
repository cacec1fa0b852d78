import { idAt, isObject, type Json, listAt, numberAt, objectAt, textAt } from './json.ts';

/** A peer's own view of the cluster it is in. It is a view: what others see may differ for a moment, or for good. */
export interface ClusterInfo {
  readonly id: string;
  /** The members as it knows them: their URIs, by their ids. */
  readonly members: ReadonlyMap<string, string>;
  /** Undefined if it knows none. One that lost its followers goes on naming itself. */
  readonly leader: string | undefined;
  readonly role: string | undefined;
  readonly commit: number;
  readonly pendingOperations: number;
  readonly isVoter: boolean;
  readonly consensus: Consensus;
  /** The URIs to which it tries to send in vain. */
  readonly unreached: readonly string[];
}

export type Consensus =
  | { readonly is: 'working' }
  /** It was removed, or an entry can't be applied: then it stops everywhere, and whoever restarts never comes back. */
  | { readonly is: 'stopped'; readonly because: string };

/** Undefined: it is no member of any cluster, or speaks another language. */
export function clusterInfoOf(json: Json): ClusterInfo | undefined {
  const id = idAt(json, 'peer_id');
  if (textAt(json, 'status') !== 'enabled' || id === undefined) return undefined;
  const raft = objectAt(json, 'raft_info');
  const leader = idAt(raft, 'leader');
  return {
    id,
    members: new Map(
      Object.entries(objectAt(json, 'peers')).map(([member, about]) => [member, textAt(about, 'uri') ?? '']),
    ),
    // 0 while it campaigns, null right after its start.
    leader: leader === '0' ? undefined : leader,
    role: textAt(raft, 'role'),
    commit: numberAt(raft, 'commit') ?? 0,
    pendingOperations: numberAt(raft, 'pending_operations') ?? 0,
    isVoter: raft['is_voter'] === true,
    consensus: consensusOf(objectAt(json, 'consensus_thread_status')),
    unreached: Object.keys(objectAt(json, 'message_send_failures')),
  };
}

function consensusOf(status: Json): Consensus {
  const word = textAt(status, 'consensus_thread_status');
  if (word === 'working') return { is: 'working' };
  // Without the countdown to its next attempt, which would be news each time.
  const error = textAt(status, 'err')?.split('; restarting consensus thread')[0];
  return { is: 'stopped', because: error ?? word ?? 'it does not say how it is doing' };
}

/** Where the shards of a collection are, as one peer sees it. */
export interface Distribution {
  readonly collection: string;
  readonly shardCount: number;
  readonly replicas: readonly Replica[];
  readonly transfers: readonly Transfer[];
}

export interface Replica {
  readonly shard: number;
  readonly peer: string;
  /** `Active` is what was agreed on last, and no sign of life: a peer that died keeps it until somebody writes. */
  readonly state: string;
  /** Of a collection whose points say to which shard they belong. */
  readonly key?: string | number | undefined;
  /** How many points it has: told by whoever holds it. */
  readonly points?: number | undefined;
}

export interface Transfer {
  readonly shard: number;
  readonly from: string;
  readonly to: string;
}

/** Undefined if it is not all there: half a view would be mistaken for shards that are gone. */
export function distributionOf(collection: string, json: Json): Distribution | undefined {
  const own = idAt(json, 'peer_id');
  const shardCount = numberAt(json, 'shard_count');
  if (own === undefined || shardCount === undefined || !isObject(json)) return undefined;
  const local = listAt(json, 'local_shards').map((shard) => replicaOf(shard, own));
  const remote = listAt(json, 'remote_shards').map((shard) => replicaOf(shard, idAt(shard, 'peer_id')));
  const transfers = listAt(json, 'shard_transfers').map((transfer) => {
    const [shard, from, to] = [numberAt(transfer, 'shard_id'), idAt(transfer, 'from'), idAt(transfer, 'to')];
    return shard === undefined || from === undefined || to === undefined ? undefined : { shard, from, to };
  });
  const replicas = [...local, ...remote];
  if (!replicas.every((one) => one !== undefined) || !transfers.every((one) => one !== undefined)) return undefined;
  return { collection, shardCount, replicas, transfers };
}

function replicaOf(json: Json, peer: string | undefined): Replica | undefined {
  const shard = numberAt(json, 'shard_id');
  if (shard === undefined || peer === undefined) return undefined;
  const key = textAt(json, 'shard_key') ?? numberAt(json, 'shard_key');
  const points = numberAt(json, 'points_count');
  const told = { ...(key !== undefined && { key }), ...(points !== undefined && { points }) };
  return { shard, peer, state: textAt(json, 'state') ?? 'Unknown', ...told };
}

/** How many copies a collection should have, and how many of them have to take a write. */
export interface Factors {
  readonly replication: number;
  readonly writeConsistency: number;
}

export function factorsOf(json: Json): Factors | undefined {
  const params = objectAt(objectAt(json, 'config'), 'params');
  const replication = numberAt(params, 'replication_factor');
  if (replication === undefined) return undefined;
  return { replication, writeConsistency: numberAt(params, 'write_consistency_factor') ?? 1 };
}
