export { AvroDecoder, type Decoded } from './decoder.ts';
export { type Lookup, SchemaRegistry, type SchemaRegistryOptions } from './schema-registry.ts';
