import type { TlsConfig } from '../../tls.ts';

/** What brokers call us in their logs and quotas. */
export const CLIENT_ID = 'dataflow-operator';

/** Some brokers of a cluster, and how to be let in. The others are learned from them. */
export interface KafkaConnectionConfig {
  /** `host:port` */
  readonly brokers: readonly string[];
  /** That it is there turns TLS on. */
  readonly tls?: TlsConfig | undefined;
  readonly sasl?: SaslConfig | undefined;
  /** What `tls` and `sasl` must amount to. Left out: what they say. */
  readonly securityProtocol?: string | undefined;
}

export interface SaslConfig {
  /** `plain` (default), `scram-sha-256` or `scram-sha-512` */
  readonly mechanism?: string | undefined;
  readonly username: string;
  readonly password: string;
}

export interface KafkaSourceConfig extends KafkaConnectionConfig {
  readonly topic: string;
  /** Default: `dataflow-operator`. */
  readonly consumerGroup?: string | undefined;
  /** `json` (default): values are handed on byte for byte. `avro`: as JSON. */
  readonly format?: 'json' | 'avro' | undefined;
  readonly schemaRegistry?: SchemaRegistryConfig | undefined;
  /** The schema, as JSON, of values that do not name theirs. */
  readonly avroSchema?: string | undefined;
  readonly avroSchemaFile?: string | undefined;
}

export interface SchemaRegistryConfig {
  readonly url: string;
  readonly basicAuth?: { readonly username: string; readonly password: string } | undefined;
  readonly tls?: TlsConfig | undefined;
}

export interface KafkaSinkConfig extends KafkaConnectionConfig {
  readonly topic: string;
}
