import { readFileSync } from 'node:fs';
import { AvroDecoder, SchemaRegistry, type SchemaRegistryOptions } from '../../avro/index.ts';
import { messageOf } from '../../log.ts';
import { tlsOptions } from '../../tls.ts';
import type { KafkaSourceConfig } from './config.ts';

/** Undefined: values are handed on as they are. Throws if there is no schema, or none that can be read. */
export function decoderOf(
  config: KafkaSourceConfig,
  surroundings: Pick<SchemaRegistryOptions, 'clock' | 'random' | 'log'>,
): AvroDecoder | undefined {
  const { format = 'json', schemaRegistry, avroSchema, avroSchemaFile } = config;
  if (format === 'json') return undefined;
  const schema = avroSchema ?? (avroSchemaFile === undefined ? undefined : readSchema(avroSchemaFile));
  if (schema === undefined && schemaRegistry === undefined) {
    throw new Error('format avro needs a schemaRegistry, an avroSchema or an avroSchemaFile');
  }
  const { url, basicAuth, tls } = schemaRegistry ?? {};
  const registry =
    url === undefined
      ? undefined
      : new SchemaRegistry({ url, basicAuth, tls: tls && tlsOptions(tls), ...surroundings });
  try {
    return new AvroDecoder({ schema, registry });
  } catch (error) {
    const field = avroSchema === undefined ? 'avroSchemaFile' : 'avroSchema';
    throw new Error(`${field} is no Avro schema: ${messageOf(error)}`, { cause: error });
  }
}

function readSchema(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`avroSchemaFile can't be read: ${messageOf(error)}`, { cause: error });
  }
}
