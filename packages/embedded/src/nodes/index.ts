export { evictions } from './evictions.ts';
export { nodeLifecycle } from './node-lifecycle.ts';
export { type Machine, type NodeOptions, nodeObjects, type RegisteredNode } from './node-objects.ts';
export { tolerates, untolerated } from './taints.ts';
