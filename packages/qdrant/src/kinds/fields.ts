/** What several of the kinds have in common. */
import { type TSchema, Type } from 'typebox';

export const GROUP = 'qdrant.operator';
export const VERSION = 'v1alpha1';

/** An amount of bytes, as upstream takes it. */
export const Size = (description: string) =>
  Type.String({ pattern: '^(\\d+(e\\d+)?|\\d+(\\.\\d+)?(e\\d+)?[EPTGMK]i?)$', maxLength: 32, description });

/** Upstream's manifests may say null for what they leave out. */
export const orNull = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

export const flag = (value: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: value, description }));

/** One of several words. */
export const word = <const W extends string>(words: readonly [W, ...W[]], options: object = {}) =>
  Type.Unsafe<W>({ type: 'string', enum: [...words], ...options });

export const atLeastOne = (description: string, options: object = {}) =>
  Type.Integer({ minimum: 1, description, ...options });

export const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

/** Where snapshots of a collection are kept, and when they are taken. */
export const Snapshots = Type.Object(
  {
    s3EndpointURL: Type.String({ minLength: 1, description: 'The S3 service: `https://s3.amazonaws.com`.' }),
    s3CredentialsSecretName: Type.String({
      minLength: 1,
      description: 'A Secret with the keys ACCESS_KEY and SECRET_KEY, and REGION where the endpoint does not name it.',
    }),
    bucketName: Type.String({ minLength: 1 }),
    backupNow: flag(false, 'Take one now: once for each generation of the spec that says so.'),
    backupSchedule: Type.Optional(Type.String({ default: '', description: 'When to take one, as cron has it.' })),
    retentionCount: Type.Optional(atLeastOne('How many complete backups are kept. Left out: all of them.')),
    restoreSnapshotName: Type.Optional(
      Type.String({ default: '', description: 'Go back to this one: `cluster/collection/2024-01-21-23-38`.' }),
    ),
  },
  { description: 'Snapshots of the collection in a bucket.' },
);
