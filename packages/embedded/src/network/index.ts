export { type ClusterName, clusterName } from './names.ts';
export { Network, type SocketAddress } from './network.ts';
