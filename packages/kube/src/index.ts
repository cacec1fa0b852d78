export * from './admission/index.ts';
export * from './cache/index.ts';
export * from './certificates/index.ts';
// Kubernetes has types of these names, too; ours are the ones that its users meet.
export type { DeleteOptions } from './client/index.ts';
export * from './client/index.ts';
export * from './clock/index.ts';
export type { Condition } from './conditions/index.ts';
export * from './conditions/index.ts';
export * from './controller/index.ts';
export * from './events/index.ts';
export * from './finalizers/index.ts';
export * from './kinds/index.ts';
export * from './lease/index.ts';
export { type Logger, silentLogger } from './log.ts';
export * from './manager/index.ts';
export * from './metrics/index.ts';
export * from './queue/index.ts';
export * from './reflector/index.ts';
