export type { Clock } from './clock.ts';
export { Cluster, type ClusterOptions, type Download, type LoggedRequest } from './cluster.ts';
export { ConnectionFailure } from './connection-failure.ts';
export {
  type Configuration,
  ConfigurationError,
  configurationOf,
  type Place,
  type PlaceVolume,
  type QdrantStandIn,
  type QdrantStandInOptions,
  qdrantStandIn,
  type RunningPeer,
  type SocketAddress,
} from './container/index.ts';
export { Disk } from './disk.ts';
export type { Faults } from './faults.ts';
export { type Folders, openFolders } from './folder-disk.ts';
export { Peer, type Start } from './peer/index.ts';
export type { QdrantRequest, QdrantResponse } from './rest/index.ts';
export type { PeerSettings } from './settings.ts';
