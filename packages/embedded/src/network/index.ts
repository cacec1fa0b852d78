export { MovedPorts, type SocketAddress } from './moved-ports.ts';
export { type ClusterName, clusterName } from './names.ts';
export { Network } from './network.ts';
