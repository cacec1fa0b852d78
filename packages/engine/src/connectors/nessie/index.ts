export { IcebergError } from '../../iceberg/index.ts';
export type { NessieSinkConfig, NessieSourceConfig } from './config.ts';
export { NessieSink, type NessieSinkOptions } from './sink.ts';
export { NessieSource, type NessieSourceOptions } from './source.ts';
