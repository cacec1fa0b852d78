import { anything, defineKind, listSet, type ResourceOf, statusOf } from '@polder/kube';
import { Type } from 'typebox';
import { atLeastOne, flag, GROUP, Snapshots, time, VERSION, word } from './fields.ts';

const PayloadIndex = Type.Object({
  field: Type.String({ minLength: 1 }),
  type: word(['keyword', 'integer', 'float', 'geo', 'text', 'bool', 'datetime', 'uuid']),
});

export const QdrantCollection = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCollection',
  plural: 'qdrantcollections',
  description: 'A collection of vectors in a QdrantCluster of the same namespace. Its name is that of the collection.',
  spec: Type.Object({
    cluster: Type.String({ minLength: 1, description: 'The QdrantCluster.' }),
    vectorSize: atLeastOne('How many dimensions its vectors have.'),
    distance: Type.Optional(word(['Cosine', 'Euclid', 'Dot', 'Manhattan'], { default: 'Cosine' })),
    shardNumber: Type.Optional(atLeastOne('Into how many parts it is divided, for good.', { default: 1 })),
    replicationFactor: Type.Optional(atLeastOne('How many copies there are of each.', { default: 1 })),
    onDisk: flag(true, 'Keep vectors on disk rather than in memory.'),
    config: Type.Optional(
      anything<Readonly<Record<string, unknown>>>({ type: 'object', description: 'Whatever else Qdrant takes.' }),
    ),
    aliases: Type.Optional(listSet(Type.String({ minLength: 1, maxLength: 255 }))),
    payloadIndexes: Type.Optional(Type.Array(PayloadIndex)),
    shardKeys: Type.Optional(listSet(Type.String({ minLength: 1, maxLength: 255 }))),
    deletionPolicy: Type.Optional(
      word(['Retain', 'Delete'], { default: 'Delete', description: 'What becomes of the collection itself.' }),
    ),
    snapshots: Type.Optional(Snapshots),
  }),
  status: statusOf({
    qdrantStatus: Type.Optional(Type.String({ description: 'How the collection is doing, in one word.' })),
    reason: Type.Optional(Type.String()),
    errorMessage: Type.Optional(Type.String()),
    pointsCount: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
    lastBackup: Type.Optional(
      Type.Object({
        generation: Type.Integer({ format: 'int64', description: 'That of the spec that asked for it.' }),
        id: Type.String(),
        time: time('When it was complete.'),
      }),
    ),
    cleanupPhase: Type.Optional(word(['Retrying', 'Completed', 'Failed'])),
    cleanupAttempts: Type.Optional(Type.Integer({ minimum: 0 })),
    cleanupError: Type.Optional(Type.String()),
  }),
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster' },
    { name: 'Status', type: 'string', jsonPath: '.status.qdrantStatus' },
  ],
});
export type QdrantCollection = ResourceOf<typeof QdrantCollection>;
