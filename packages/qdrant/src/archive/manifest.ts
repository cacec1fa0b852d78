import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

/**
 * What a backup holds, in the bucket beside its files and written after the last of them: a set without it is not complete.
 * A file by itself says neither to which shard it belongs nor how the vectors in it are, and the server takes any: what is
 * restored is checked against this.
 */
const ManifestSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String(),
  cluster: Type.String(),
  /** That of the cluster: others of the same name may keep their backups in the same bucket. */
  namespace: Type.Optional(Type.String()),
  collection: Type.String(),
  takenAt: Type.String(),
  qdrantVersion: Type.String(),
  /** As a collection is created: what the server told of it, in the shape that it takes. */
  config: Type.Record(Type.String(), Type.Unknown()),
  shardNumber: Type.Integer({ minimum: 0 }),
  replicationFactor: Type.Integer({ minimum: 1 }),
  /** They are in no snapshot. */
  aliases: Type.Array(Type.String()),
  shards: Type.Array(
    Type.Object({
      id: Type.Integer({ minimum: 0 }),
      /** Of a collection whose points say to which shard they belong. */
      key: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
      file: Type.String(),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
});

export type Manifest = Static<typeof ManifestSchema>;
export type ShardFile = Manifest['shards'][number];

/** Undefined: it is not one, or one of a later program. */
export function manifestOf(text: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(ManifestSchema, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
