export * from './apiserver/index.ts';
export { type ClusterOptions, type EmbeddedCluster, startCluster } from './cluster.ts';
export type { Provisioner } from './controllers/persistent-volume/index.ts';
export * from './kubelet/index.ts';
export { type Machinery, type MachineryOptions, startMachinery } from './machinery.ts';
export { LOOKUP_MODULE, Network, type SocketAddress } from './network/index.ts';
export { type Machine, thisMachine } from './nodes/index.ts';
