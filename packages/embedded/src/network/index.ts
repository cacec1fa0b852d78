import { join } from 'node:path';

export { MovedPorts, type SocketAddress } from './moved-ports.ts';
export { type ClusterName, clusterName } from './names.ts';
export { Network } from './network.ts';

/** A module to load into Node programs of the cluster, so that they find each other by name. */
export const LOOKUP_MODULE = join(import.meta.dirname, 'lookup.ts');
