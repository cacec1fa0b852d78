export { evictions } from './evictions.ts';
export { nodeLifecycle } from './node-lifecycle.ts';
export { type Machine, nodeObjects } from './node-objects.ts';
export { registerNodes } from './registration.ts';
export { tolerates, untolerated } from './taints.ts';
export { thisMachine } from './this-machine.ts';
