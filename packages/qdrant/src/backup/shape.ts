/** How a collection is told by the server, and how it is created: not in the same words. */
import { createHash } from 'node:crypto';
import { type JsonObject, objectAt } from '../api/index.ts';

/** Of `params`, what a creation takes at its top. What else there is can be changed later, and is left to its default. */
const PARAMS = [
  'vectors',
  'sparse_vectors',
  'shard_number',
  'sharding_method',
  'replication_factor',
  'write_consistency_factor',
  'on_disk_payload',
];

/** By other names in the answer than in the question. */
const SECTIONS: Readonly<Record<string, string>> = {
  hnsw_config: 'hnsw_config',
  optimizer_config: 'optimizers_config',
  wal_config: 'wal_config',
  quantization_config: 'quantization_config',
  strict_mode_config: 'strict_mode_config',
  metadata: 'metadata',
};

/** The body that creates a collection like the one that the server told of. */
export function creationOf(config: JsonObject): JsonObject {
  const params = objectAt(config, 'params');
  const entries = [
    ...PARAMS.map((name) => [name, params[name] ?? null] as const),
    ...Object.entries(SECTIONS).map(([told, asked]) => [asked, config[told] ?? null] as const),
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

/** What has to be the same for a file of one collection to be one of another: the server would take any. */
export function shapeOf(config: JsonObject): string {
  const { vectors, sparse_vectors: sparse, shard_number: shards, sharding_method: method } = creationOf(config);
  return createHash('sha256')
    .update(JSON.stringify([vectors, sparse, shards, method]))
    .digest('hex')
    .slice(0, 16);
}
