import { type Static, Type } from 'typebox';
import { type Finding, forbid, need, refuse, warn, when } from '../finding.ts';
import { FROM_SECRET, type Immutable, INT32, unless, withRule } from '../schema.ts';
import { batching, batchingFindings } from './batching.ts';
import { keycloak } from './credentials.ts';
import { polling, queryFindings, readBatchSize } from './polling.ts';
import { autoCreateTable, rawMode, rawModeFindings, upsert, withoutUpsert } from './table-sink.ts';
import { tls } from './tls.ts';

const location = {
  serverURL: Type.String({ format: 'http-url', description: 'Address of the coordinator.', ...FROM_SECRET }),
  catalog: Type.String({ description: 'The catalog.', ...FROM_SECRET }),
  schema: Type.String({ description: 'The schema in the catalog.', ...FROM_SECRET }),
  keycloak: Type.Optional(keycloak),
  tls: Type.Optional(tls),
};

interface Location {
  readonly serverURL?: string | undefined;
  readonly keycloak?: object | undefined;
  readonly tls?: object | undefined;
}

function locationFindings({ serverURL, keycloak, tls }: Location): readonly Finding[] {
  const url = serverURL === undefined ? null : URL.parse(serverURL);
  if (url?.protocol !== 'http:') return [];
  return [
    ...when(
      tls !== undefined,
      forbid('tls', 'serverURL is http://, of which nothing is encrypted: use https://, or remove tls'),
    ),
    ...when(keycloak !== undefined, warn('serverURL', 'over http:// the token is sent in clear text')),
    ...when(url.password !== '', warn('serverURL', 'over http:// the password is sent in clear text')),
  ];
}

export const trinoSource = withRule(
  Type.Object(
    {
      ...location,
      table: Type.Optional(Type.String({ description: 'The table.', ...FROM_SECRET, ...unless('query') })),
      query: Type.Optional(
        Type.String({
          description: 'What to read instead of the table. With changeTrackingColumn only rows that are new.',
        }),
      ),
      ...polling(5),
      ...readBatchSize,
      orderByColumn: Type.String({
        default: 'id',
        description: 'The column that tells rows of the same change apart.',
      }),
      changeTrackingColumn: Type.Optional(
        Type.String({ description: 'The column that grows with every change. Without it orderByColumn has to.' }),
      ),
    },
    { description: 'Reads rows that are new or changed, by asking again and again.' },
  ),
  (given, has) => [...locationFindings(given), ...queryFindings(has)],
);
export type TrinoSourceSpec = Immutable<Static<typeof trinoSource>>;

export const trinoSink = withRule(
  Type.Object(
    {
      ...location,
      table: Type.String({ description: 'The table.', ...FROM_SECRET }),
      ...batching(1),
      ...autoCreateTable('Create the table if it is missing.'),
      ...rawMode,
      ...upsert('The column, or columns with commas, that tell rows apart.'),
      queryTimeoutSeconds: Type.Optional(
        Type.Integer({ minimum: 1, ...INT32, description: 'How long a statement may take, in seconds.' }),
      ),
    },
    { description: 'Writes a row for each message.' },
  ),
  (given, has) => [
    ...locationFindings(given),
    ...when(
      given.upsertMode === true && !has('conflictKey'),
      need('conflictKey', 'conflictKey is required when upsertMode is true'),
    ),
    // MERGE is refused by most connectors of Trino, and the name is all we know of a catalog before we connect.
    ...when(
      given.upsertMode === true && given.catalog !== undefined && !/iceberg/i.test(given.catalog),
      refuse('catalog', 'upsertMode needs an Iceberg catalog, with iceberg in its name'),
    ),
    ...batchingFindings(given),
    ...rawModeFindings(given),
    ...when(given.upsertMode === false && has('conflictKey'), withoutUpsert('conflictKey')),
  ],
);
export type TrinoSinkSpec = Immutable<Static<typeof trinoSink>>;
