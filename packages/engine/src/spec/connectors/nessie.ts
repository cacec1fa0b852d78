import { type Static, type TObject, Type } from 'typebox';
import { type Finding, forbid, need, warn, when } from '../finding.ts';
import { FROM_SECRET, type Given, type Immutable, oneOf, SECRET, withRule } from '../schema.ts';
import { batching, batchingFindings } from './batching.ts';
import { basicAuth } from './credentials.ts';
import { polling } from './polling.ts';
import { autoCreateTable, rawMode, rawModeFindings } from './table-sink.ts';

const table = {
  baseURL: Type.String({ format: 'http-url', description: 'Address of Nessie.', ...FROM_SECRET }),
  namespace: Type.String({ description: 'The namespace of the table.', ...FROM_SECRET }),
  table: Type.String({ description: 'The Iceberg table.', ...FROM_SECRET }),
  branch: Type.String({ default: 'main', description: 'The branch.' }),
  warehouse: Type.Optional(Type.String({ description: 'The warehouse, if it is not the default one.' })),
};

const access = {
  authenticationType: oneOf(['AUTO', 'BEARER', 'BASIC', 'NONE'], {
    default: 'AUTO',
    description: 'AUTO: whatever bearerToken or basicAuth there is.',
  }),
  bearerToken: Type.Optional(
    Type.String({
      description: 'The token for Nessie.',
      'x-polder-secret': true,
      'x-polder-secret-ref': 'tokenSecretRef',
    }),
  ),
  basicAuth: Type.Optional(basicAuth),
  s3Endpoint: Type.Optional(
    Type.String({ format: 'http-url', description: 'Address of the object storage, if it is not the one of AWS.' }),
  ),
  s3Region: Type.Optional(Type.String({ description: 'The region of the object storage.' })),
  accessKey: Type.Optional(Type.String({ description: 'The access key of the object storage.', ...SECRET })),
  secretAccessKey: Type.Optional(Type.String({ description: 'The secret of that access key.', ...SECRET })),
};

export const nessieSource = withRule(
  Type.Object(
    {
      ...table,
      ...polling(10),
      query: Type.Optional(Type.String({ description: 'Not supported: no engine would run it.' })),
      incrementalBySnapshot: Type.Boolean({
        default: false,
        description: 'Read what snapshots have added since the last poll, instead of the whole table at every poll.',
      }),
      startSnapshotID: Type.Optional(
        Type.String({
          format: 'unsigned-integer',
          description: 'The snapshot after which to begin, if there is no checkpoint.',
        }),
      ),
      snapshotCheckpoints: Type.Boolean({ default: true, description: 'Remember the last snapshot that was read.' }),
      ...access,
    },
    { description: 'Reads an Iceberg table that Nessie has the catalog of.' },
  ),
  (given, has) => [
    ...accessFindings(given, has),
    ...when(
      has('query'),
      forbid(
        'query',
        given.incrementalBySnapshot === true
          ? 'may not be given with incrementalBySnapshot'
          : 'no engine would run it: filter with a transformation, or read the table with a trino source',
      ),
    ),
    ...when(
      given.incrementalBySnapshot === false,
      warn('incrementalBySnapshot', 'is false: every poll reads the whole table again'),
      ...when(has('startSnapshotID'), warn('startSnapshotID', 'has no effect without incrementalBySnapshot')),
    ),
  ],
);
export type NessieSourceSpec = Immutable<Static<typeof nessieSource>>;

export const nessieSink = withRule(
  Type.Object(
    {
      ...table,
      ...batching(100),
      ...autoCreateTable(
        'Create the table if it is missing, with columns as the messages have fields; new fields add columns.',
      ),
      ...rawMode,
      ...access,
    },
    { description: 'Appends to an Iceberg table that Nessie has the catalog of; one snapshot for each batch.' },
  ),
  (given, has) => [...accessFindings(given, has), ...batchingFindings(given), ...rawModeFindings(given)],
);
export type NessieSinkSpec = Immutable<Static<typeof nessieSink>>;

type Access = Static<TObject<typeof access>>;

function accessFindings(
  { authenticationType: type }: Given<Access>,
  has: (field: keyof Access) => boolean,
): readonly Finding[] {
  const isTwice = has('bearerToken') && has('basicAuth');
  return [
    ...when(
      type === 'BEARER' && !has('bearerToken'),
      need('bearerToken', 'bearerToken or tokenSecretRef is required when authenticationType is BEARER'),
    ),
    ...when(
      type === 'BASIC' && !has('basicAuth'),
      need('basicAuth', 'basicAuth is required when authenticationType is BASIC'),
    ),
    ...when(
      type === 'AUTO' && isTwice,
      forbid('basicAuth', 'may not be given beside bearerToken unless authenticationType says which one to use'),
    ),
    ...when(
      has('accessKey') && !has('secretAccessKey'),
      need('secretAccessKey', 'accessKey and secretAccessKey are given together or not at all'),
    ),
    ...when(
      has('secretAccessKey') && !has('accessKey'),
      need('accessKey', 'accessKey and secretAccessKey are given together or not at all'),
    ),
  ];
}
