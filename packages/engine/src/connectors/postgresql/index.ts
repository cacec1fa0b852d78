export type { PostgresSinkConfig, PostgresSourceConfig } from './config.ts';
export { PostgresSink } from './sink.ts';
export { PostgresSource, type PostgresSourceOptions } from './source.ts';
export { PostgresError } from './trouble.ts';
