import { anything, defineKind, listMap, listSet, type ResourceOf, statusOf } from '@polder/kube';
import { Type } from 'typebox';
import { atLeastOne, GROUP, Snapshots, time, VERSION, word } from './fields.ts';

const PayloadIndex = Type.Object({
  field: Type.String({ minLength: 1 }),
  type: word(['keyword', 'integer', 'float', 'geo', 'text', 'bool', 'datetime', 'uuid']),
});

const silently = (usual: string) => `Left out: ${usual} if the collection is made, as it is if it was there before.`;

export const QdrantCollection = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCollection',
  plural: 'qdrantcollections',
  description: 'A collection of vectors in a QdrantCluster of the same namespace. Its name is that of the collection.',
  spec: Type.Object({
    cluster: Type.String({ description: 'The QdrantCluster.' }),
    // Upstream's schema has no bounds for these two: what is out of them is stored, and told in the status.
    vectorSize: Type.Integer({ description: 'How many dimensions its vectors have.' }),
    // None of these has a default in the schema: written into a spec, it would be what somebody wants, and would change a
    // collection that was there before.
    distance: Type.Optional(
      word(['Cosine', 'Euclid', 'Dot', 'Manhattan'], {
        description: `How far apart vectors are. ${silently('Cosine')}`,
      }),
    ),
    shardNumber: Type.Optional(atLeastOne(`Into how many parts it is divided, for good. ${silently('1')}`)),
    replicationFactor: Type.Optional(atLeastOne(`How many copies there are of each. ${silently('1')}`)),
    onDisk: Type.Optional(
      Type.Boolean({ description: `Keep vectors on disk rather than in memory. ${silently('true')}` }),
    ),
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
    origin: Type.Optional(
      word(['Created', 'Adopted'], {
        description: 'How the collection became ours. Without it, it is not ours: it is neither changed nor deleted.',
      }),
    ),
    clusterUID: Type.Optional(Type.String({ description: 'Of the cluster in which it is ours.' })),
    leftBehind: Type.Optional(
      listMap(Type.Object({ cluster: Type.String(), clusterUID: Type.String() }), ['clusterUID'], {
        description:
          'Clusters that the spec named before, and that still have the collection. Nobody looks after it there.',
      }),
    ),
    aliases: Type.Optional(
      listSet(Type.String(), { description: 'Those that are ours, to be removed with the spec.' }),
    ),
    payloadIndexes: Type.Optional(
      listMap(Type.Object({ field: Type.String(), type: Type.String() }), ['field'], {
        description: 'Those that are ours, to be removed with the spec.',
      }),
    ),
    lastPatch: Type.Optional(
      Type.Object(
        { hash: Type.String(), time: Type.String({ format: 'date-time' }) },
        { description: 'What the collection was last told to change and does not show yet.' },
      ),
    ),
    holding: Type.Optional(
      Type.Array(Type.String(), { description: 'What is not done, and which rule holds it back.' }),
    ),
    pointsCount: Type.Optional(
      Type.Integer({ format: 'int64', minimum: 0, description: 'As they were counted last, which is now and then.' }),
    ),
    pointsCountedAt: time('When they were.'),
    restore: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          backupId: Type.String(),
          phase: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
        },
        { description: 'How the restore is doing that the spec asks for.' },
      ),
    ),
    lastBackup: Type.Optional(
      Type.Object({
        generation: Type.Integer({ format: 'int64', description: 'That of the spec that asked for it.' }),
        id: Type.String(),
        time: time('When it was complete.'),
      }),
    ),
    cleanupPhase: Type.Optional(word(['Retrying', 'Completed', 'Failed'])),
    cleanupAttempts: Type.Optional(Type.Integer({ minimum: 0 })),
    cleanupTriedAt: time('When the last of them was made.'),
    cleanupError: Type.Optional(Type.String()),
  }),
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster' },
    { name: 'Status', type: 'string', jsonPath: '.status.qdrantStatus' },
    { name: 'Points', type: 'integer', jsonPath: '.status.pointsCount' },
  ],
});
export type QdrantCollection = ResourceOf<typeof QdrantCollection>;
export type CollectionSpec = QdrantCollection['spec'];
