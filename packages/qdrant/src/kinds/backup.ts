import { defineKind, type ResourceOf, statusOf } from '@polder/kube';
import { Type } from 'typebox';
import { GROUP, Snapshots, time, VERSION } from './fields.ts';

export const QdrantCollectionBackup = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCollectionBackup',
  plural: 'qdrantcollectionbackups',
  description: 'Backups of a collection, whoever made it.',
  spec: Type.Object({
    cluster: Type.String({ minLength: 1 }),
    collectionName: Type.String({ minLength: 1, maxLength: 255 }),
    snapshots: Snapshots,
    request: Type.Optional(
      Type.Integer({
        format: 'int64',
        description:
          'Another number asks for another backup where `backupNow` is set: the generation of a QdrantCollection.',
      }),
    ),
  }),
  status: statusOf({
    lastBackup: Type.Optional(
      Type.Object({
        generation: Type.Integer({ format: 'int64' }),
        id: Type.String(),
        time: time('When it was complete.'),
      }),
    ),
  }),
  columns: [
    { name: 'Collection', type: 'string', jsonPath: '.spec.collectionName' },
    { name: 'Last', type: 'string', jsonPath: '.status.lastBackup.id' },
  ],
});
export type QdrantCollectionBackup = ResourceOf<typeof QdrantCollectionBackup>;
