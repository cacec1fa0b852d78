export * from './apiserver/index.ts';
