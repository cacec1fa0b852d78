export * from './client/index.ts';
export * from './clock/index.ts';
export * from './kinds/index.ts';
