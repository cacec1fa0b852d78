export * from './cache/index.ts';
export * from './client/index.ts';
export * from './clock/index.ts';
export * from './kinds/index.ts';
export { type Logger, silentLogger } from './log.ts';
export * from './queue/index.ts';
export * from './reflector/index.ts';
