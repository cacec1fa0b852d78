export { evictions } from './evictions.ts';
export { nodeLifecycle } from './node-lifecycle.ts';
export { type Machine, type NodeOptions, nodeObjects, type RegisteredNode } from './node-objects.ts';
export { registerNodes } from './registration.ts';
export { tolerates, untolerated } from './taints.ts';
export { thisMachine } from './this-machine.ts';
