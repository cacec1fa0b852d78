import { defineKind, type ResourceOf, type StatusOf, statusOf } from '@polder/kube';
import { Type } from 'typebox';
import { GROUP, Snapshots, time, VERSION, word } from './fields.ts';

const generation = (description: string) => Type.Integer({ format: 'int64', description });
const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

const Current = Type.Object(
  {
    id: Type.String({ description: 'What its keys in the bucket begin with.' }),
    generation: generation('That of the spec that asked for it.'),
    request: Type.Optional(generation('The request that asked for it.')),
    trigger: word(['Now', 'Schedule']),
    startedAt: Type.String({ format: 'date-time' }),
    copiedShards: count('How many shards are in the bucket.'),
    shards: count('How many there are.'),
    failures: count('How often it was attempted in vain.'),
    retryAt: time('When it is attempted again.'),
    retryVersion: Type.Optional(
      Type.String({ description: 'What it was attempted with: once that is another, it is attempted at once.' }),
    ),
  },
  { description: 'The backup that is under way.' },
);

const Leftover = Type.Object({
  pod: Type.String(),
  shard: Type.Integer({ minimum: 0 }),
  others: Type.Array(Type.String(), { description: 'Those that were there before: they are not ours.' }),
});

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
    phase: Type.Optional(
      word(['Idle', 'InProgress', 'Waiting', 'Failed'], {
        description: 'Waiting: a rule holds it back. Failed: it is attempted again later, or somebody has to act.',
      }),
    ),
    message: Type.Optional(Type.String({ description: 'What is under way: `3 of 6 shards are in the bucket`.' })),
    current: Type.Optional(Current),
    lastBackup: Type.Optional(
      Type.Object({
        generation: generation('That of the spec that asked for it.'),
        request: Type.Optional(generation('The request that asked for it.')),
        id: Type.String(),
        time: time('When it was complete.'),
      }),
    ),
    schedule: Type.Optional(Type.String({ description: 'The line of cron by which the next time was found.' })),
    nextBackup: time('When the next one is due.'),
    lastError: Type.Optional(Type.String({ description: 'What the last attempt failed with.' })),
    leftovers: Type.Optional(
      Type.Array(Leftover, { description: 'Shards of which a pod may still have a snapshot that is ours.' }),
    ),
    holding: Type.Optional(
      Type.Array(Type.String(), { description: 'What is not done, and which rule holds it back.' }),
    ),
    cleanupPhase: Type.Optional(word(['Retrying', 'Completed', 'Failed'])),
    cleanupAttempts: count('How often what a deleted backup had begun could not be removed.'),
    cleanupTriedAt: time('When the last of them was made.'),
    cleanupError: Type.Optional(Type.String()),
  }),
  columns: [
    { name: 'Collection', type: 'string', jsonPath: '.spec.collectionName' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Last', type: 'string', jsonPath: '.status.lastBackup.id' },
    { name: 'Next', type: 'string', jsonPath: '.status.nextBackup' },
  ],
});
export type QdrantCollectionBackup = ResourceOf<typeof QdrantCollectionBackup>;
export type BackupStatus = StatusOf<QdrantCollectionBackup>;
export type CurrentBackup = NonNullable<BackupStatus['current']>;
export type Leftover = NonNullable<BackupStatus['leftovers']>[number];
