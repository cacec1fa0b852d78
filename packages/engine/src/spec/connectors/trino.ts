import { type Static, Type } from 'typebox';
import { need, refuse, when } from '../finding.ts';
import { FROM_SECRET, type Immutable, INT32, unless, withRule } from '../schema.ts';
import { batching, batchingFindings } from './batching.ts';
import { keycloak } from './credentials.ts';
import { polling, queryFindings, readBatchSize } from './polling.ts';
import { autoCreateTable, rawMode, rawModeFindings, upsert, withoutUpsert } from './table-sink.ts';

const location = {
  serverURL: Type.String({ format: 'http-url', description: 'Address of the coordinator.', ...FROM_SECRET }),
  catalog: Type.String({ description: 'The catalog.', ...FROM_SECRET }),
  schema: Type.String({ description: 'The schema in the catalog.', ...FROM_SECRET }),
};

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
      keycloak: Type.Optional(keycloak),
    },
    { description: 'Reads rows that are new or changed, by asking again and again.' },
  ),
  (_given, has) => queryFindings(has),
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
      keycloak: Type.Optional(keycloak),
    },
    { description: 'Writes a row for each message.' },
  ),
  (given, has) => [
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
