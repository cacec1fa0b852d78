export type { PostgresSinkConfig, PostgresSourceConfig } from './config.ts';
export { PostgresSink } from './sink.ts';
export { PostgresError } from './trouble.ts';
