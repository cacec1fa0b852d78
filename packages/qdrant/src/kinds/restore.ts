import { defineKind, type ResourceOf, statusOf } from '@polder/kube';
import { Type } from 'typebox';
import { flag, GROUP, time, VERSION, word } from './fields.ts';

export const QdrantCollectionRestore = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCollectionRestore',
  plural: 'qdrantcollectionrestores',
  shortNames: ['qcrestore', 'qcr'],
  description: 'Takes a collection back to a backup, once.',
  spec: Type.Object({
    collection: Type.String({ minLength: 1, maxLength: 255 }),
    cluster: Type.String({ minLength: 1 }),
    backupId: Type.String({ minLength: 1 }),
    mode: Type.Optional(
      word(['replace', 'merge'], {
        default: 'replace',
        description: 'Replace what there is, or add the points of the backup to it.',
      }),
    ),
    pauseWrites: flag(true, 'Refuse writes meanwhile.'),
  }),
  status: statusOf({
    phase: Type.Optional(word(['Pending', 'InProgress', 'Completed', 'Failed'])),
    message: Type.Optional(Type.String()),
    startedAt: time('When it began.'),
    completedAt: time('When it was over.'),
    error: Type.Optional(Type.String()),
  }),
  columns: [
    { name: 'Collection', type: 'string', jsonPath: '.spec.collection' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ],
});
export type QdrantCollectionRestore = ResourceOf<typeof QdrantCollectionRestore>;
