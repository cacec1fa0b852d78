import { defineKind, type ResourceOf, statusOf } from '@polder/kube';
import { type Static, Type } from 'typebox';
import { flag, GROUP, time, VERSION, word } from './fields.ts';

const count = (description: string) => Type.Optional(Type.Integer({ format: 'int64', minimum: 0, description }));

/** One file of a backup, and how far it is. What is said here is said before it is done. */
const Part = Type.Object({
  file: Type.String(),
  shard: Type.Optional(Type.Integer({ minimum: 0, description: 'The shard that it becomes.' })),
  ordinal: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The peer that it was taken from, if upstream made the backup.' }),
  ),
  bytes: Type.Integer({ format: 'int64', minimum: 0 }),
  sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  state: word(['Found', 'Verified', 'Uploading', 'Settling', 'Restored']),
  sentAt: time('When a peer had taken it.'),
  points: count('How many points each copy of the shard had when all of them agreed.'),
});
export type RestorePart = Static<typeof Part>;

export const QdrantCollectionRestore = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCollectionRestore',
  plural: 'qdrantcollectionrestores',
  shortNames: ['qcrestore', 'qcr'],
  description:
    'Takes a collection back to a backup, once for each generation of its spec. The bucket is that of the QdrantCollection, or of a QdrantCollectionBackup of the same cluster and collection.',
  spec: Type.Object({
    collection: Type.String({ minLength: 1, maxLength: 255 }),
    cluster: Type.String({ minLength: 1 }),
    backupId: Type.String({ minLength: 1, description: 'Which backup: `cluster/collection/2024-01-21-23-38`.' }),
    mode: Type.Optional(
      word(['replace', 'merge'], {
        default: 'replace',
        description:
          'replace: the collection becomes what the backup has, and nothing else. merge: the backup is restored into a temporary collection, and its points are written into the one that is there; those of the same id are overwritten, all others stay. That needs room for both.',
      }),
    ),
    pauseWrites: flag(
      true,
      'Refuse writes meanwhile. Qdrant has no way to: the condition WritesPaused says so. Stop what writes to the collection first; what is written while a shard is replaced may be lost.',
    ),
  }),
  status: statusOf({
    phase: Type.Optional(word(['Pending', 'InProgress', 'Completed', 'Failed'])),
    message: Type.Optional(Type.String()),
    startedAt: time('When it began.'),
    completedAt: time('When it was over.'),
    error: Type.Optional(Type.String()),
    generation: Type.Optional(
      Type.Integer({
        format: 'int64',
        description: 'That of the spec that the phase is about: each is restored once.',
      }),
    ),
    progress: Type.Optional(Type.String({ description: 'How many of the files are restored: `2 of 6`.' })),
    parts: Type.Optional(Type.Array(Part, { description: 'The files, in the order in which they are restored.' })),
    temporary: Type.Optional(
      Type.Object(
        { cluster: Type.String(), collection: Type.String() },
        { description: 'The collection into which the backup is restored before its points are merged.' },
      ),
    ),
    merged: Type.Optional(
      Type.Object({
        points: Type.Integer({ format: 'int64', minimum: 0, description: 'How many are written.' }),
        next: Type.Optional(Type.String({ description: 'The id that comes next, as JSON. None: all are written.' })),
      }),
    ),
    points: count('How many points the backup had.'),
    cleanupPhase: Type.Optional(word(['Retrying', 'Completed', 'Failed'])),
    cleanupAttempts: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How often the temporary collection could not be deleted.' }),
    ),
    cleanupError: Type.Optional(Type.String()),
  }),
  columns: [
    { name: 'Collection', type: 'string', jsonPath: '.spec.collection' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Progress', type: 'string', jsonPath: '.status.progress' },
  ],
});
export type QdrantCollectionRestore = ResourceOf<typeof QdrantCollectionRestore>;
