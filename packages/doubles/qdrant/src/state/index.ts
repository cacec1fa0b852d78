export { apply } from './apply.ts';
export {
  type ClusterState,
  type Collection,
  EMPTY,
  hasReplicas,
  isLearner,
  type PeerId,
  peersIn,
  type ReplicaState,
  resolve,
  type Shard,
  type ShardKey,
  shardsOf,
  TRANSFER_METHODS,
  type Transfer,
  type TransferMethod,
  votersIn,
  without,
} from './cluster-state.ts';
export {
  type CollectionDefaults,
  formatError,
  isRefusal,
  nameObjection,
  newCollection,
  patchObjection,
  validationError,
} from './collection-config.ts';
export type { AliasAction, Applied, Entry, Refusal, TransferKey } from './entry.ts';
export { placement, shuffled } from './placement.ts';
