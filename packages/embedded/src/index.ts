export * from './apiserver/index.ts';
export { type ClusterOptions, type EmbeddedCluster, nodeNames, startCluster } from './cluster.ts';
export * from './kubelet/index.ts';
