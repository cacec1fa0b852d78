export { Client } from './client.ts';
export { type Access, type ClusterConfig, ConfigError, staticConfig } from './config.ts';
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isVersionTooLarge,
  type Status,
  type StatusCause,
} from './errors.ts';
export { fenced, NotLeader } from './fence.ts';
export { inClusterConfig } from './in-cluster.ts';
export { kubeconfig, loadConfig } from './kubeconfig.ts';
export type {
  Applied,
  ApplyOptions,
  Below,
  DeleteOptions,
  JsonPatchOperation,
  List,
  ListOptions,
  LogOptions,
  NewObject,
  Patch,
  WatchOptions,
  WriteOptions,
} from './options.ts';
export type { ClientOptions } from './requests.ts';
export { Slimmer, slim } from './slimmer.ts';
export { socketTransport } from './socket-transport.ts';
export { type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts';
export { isAtLeast } from './version.ts';
export type { WatchEvent } from './watch-event.ts';
