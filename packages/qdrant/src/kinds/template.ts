import { defineKind, type ResourceOf, statusOf } from '@polder/kube';
import { Type } from 'typebox';
import { atLeastOne, flag, GROUP, time, VERSION, word } from './fields.ts';

const Quantization = Type.Object({
  scalar: Type.Optional(Type.Object({ type: Type.Optional(word(['int8'])) })),
  product: Type.Optional(Type.Object({ compression: Type.Optional(word(['x4', 'x8', 'x16', 'x32', 'x64'])) })),
});

export const QdrantCollectionTemplate = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCollectionTemplate',
  plural: 'qdrantcollectiontemplates',
  shortNames: ['qct', 'qctemplate'],
  namespaced: false,
  description: 'What collections have in common that are made from it.',
  spec: Type.Object({
    name: Type.String({ pattern: '^[a-z0-9-]+$', maxLength: 253 }),
    // What a template leaves out, its collections leave out, too: there are no defaults of its own.
    shards: Type.Optional(atLeastOne('Into how many parts they are divided.')),
    replicationFactor: Type.Optional(atLeastOne('How many copies there are of each.')),
    onDisk: Type.Optional(Type.Boolean({ description: 'Keep vectors on disk rather than in memory.' })),
    vectors: Type.Optional(
      Type.Object({
        size: Type.Optional(atLeastOne('How many dimensions they have.')),
        distance: Type.Optional(word(['Cosine', 'Euclid', 'Dot'])),
        quantization: Type.Optional(Quantization),
      }),
    ),
    backup: Type.Optional(
      Type.Object({
        enabled: flag(false, 'Take backups.'),
        schedule: Type.Optional(Type.String()),
        retentionCount: Type.Optional(atLeastOne('How many are kept.', { default: 7 })),
      }),
    ),
  }),
  status: statusOf({
    usageCount: Type.Optional(Type.Integer({ minimum: 0 })),
    lastUsed: time('When a collection was last made from it.'),
  }),
});
export type QdrantCollectionTemplate = ResourceOf<typeof QdrantCollectionTemplate>;
