export type {
  KafkaConnectionConfig,
  KafkaSinkConfig,
  KafkaSourceConfig,
  SaslConfig,
  SchemaRegistryConfig,
} from './config.ts';
export { KafkaSink, type KafkaSinkOptions } from './sink.ts';
export { KafkaSource, type KafkaSourceOptions } from './source.ts';
export { Binary } from './wire-metadata.ts';
