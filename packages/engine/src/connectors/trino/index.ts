export type { KeycloakConfig, TrinoSinkConfig, TrinoSourceConfig } from './config.ts';
export { fetchOf } from './fetch-over-tls.ts';
export type { Fetch } from './http.ts';
export { TrinoSink, type TrinoSinkOptions } from './sink.ts';
export { TrinoSource, type TrinoSourceOptions } from './source.ts';
export { TrinoError } from './trouble.ts';
