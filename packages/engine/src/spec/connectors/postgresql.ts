import { type Static, Type } from 'typebox';
import { forbid, need, warn, when } from '../finding.ts';
import { FROM_SECRET, type Immutable, oneOf, SECRET, unless, withRule } from '../schema.ts';
import { batching, batchingFindings } from './batching.ts';
import { polling, queryFindings, readBatchSize } from './polling.ts';
import { autoCreateTable, rawMode, rawModeFindings, upsert, withoutUpsert } from './table-sink.ts';

const connection = {
  connectionString: Type.String({
    description: 'How to connect: postgres://user:password@host:5432/database?sslmode=require, or host=… user=… words.',
    ...SECRET,
  }),
};

const TABLE = 'The table, with its schema if that is not public: sales.orders.';

export const postgresqlSource = withRule(
  Type.Object(
    {
      ...connection,
      table: Type.Optional(Type.String({ description: TABLE, ...FROM_SECRET, ...unless('query') })),
      query: Type.Optional(
        Type.String({
          description: 'What to read instead of the table. With changeTrackingColumn only rows that are new.',
        }),
      ),
      ...polling(5),
      ...readBatchSize,
      // No defaults here: they depend on the table, and a query is read in steps only if the first is given.
      changeTrackingColumn: Type.Optional(
        Type.String({
          description: 'The column that grows with every change. Of a table it is updated_at if not given.',
        }),
      ),
      orderByColumn: Type.Optional(
        Type.String({ description: 'The column that tells rows of the same change apart. It is id if not given.' }),
      ),
      ...autoCreateTable('Create the table (id, created_at, updated_at) if it is missing, instead of failing.'),
    },
    { description: 'Reads rows that are new or changed, by asking again and again.' },
  ),
  (given, has) => [
    ...queryFindings(has),
    ...when(
      has('query') && given.autoCreateTable === true && !has('table'),
      need('table', 'autoCreateTable needs the name of the table'),
    ),
  ],
);
export type PostgresqlSourceSpec = Immutable<Static<typeof postgresqlSource>>;

export const postgresqlSink = withRule(
  Type.Object(
    {
      ...connection,
      table: Type.String({ description: TABLE, ...FROM_SECRET }),
      ...batching(1),
      ...autoCreateTable('Create the table if it is missing, with columns as the first message has fields.'),
      ...rawMode,
      ...upsert('The column, or columns with commas, that tell rows apart. If not given it is the primary key.'),
      upsertStrategy: oneOf(['always', 'ifNewer'], {
        default: 'always',
        description: 'ifNewer: leave a row alone if its upsertVersionColumn is not smaller than that of the message.',
      }),
      upsertVersionColumn: Type.Optional(Type.String({ description: 'The column that ifNewer compares.' })),
      softDeleteColumn: Type.Optional(
        Type.String({ description: 'Messages that delete set this column to the time instead of removing the row.' }),
      ),
    },
    { description: 'Writes a row for each message.' },
  ),
  (given, has) => {
    const isNewer = given.upsertStrategy === 'ifNewer';
    const isUpsert = given.upsertMode === true;
    return [
      ...when(
        isNewer && !has('upsertVersionColumn'),
        need('upsertVersionColumn', 'upsertVersionColumn is required when upsertStrategy is ifNewer'),
      ),
      ...when(
        isNewer && given.upsertMode === false,
        need('upsertMode', 'upsertStrategy ifNewer works in upsertMode only'),
      ),
      ...batchingFindings(given),
      ...rawModeFindings(given),
      ...when(
        isUpsert && given.rawMode === true && given.flattenMetadataColumns === false,
        forbid(
          'upsertMode',
          'rows of rawMode have no key to find them again by, unless flattenMetadataColumns is true',
        ),
      ),
      ...when(
        isUpsert && given.autoCreateTable === true && !has('conflictKey'),
        warn('autoCreateTable', 'with upsertMode: a table that is made has no primary key unless conflictKey names it'),
      ),
      ...when(given.upsertMode === false && has('conflictKey'), withoutUpsert('conflictKey')),
      ...when(
        !isNewer && has('upsertVersionColumn'),
        warn('upsertVersionColumn', 'has no effect without upsertStrategy ifNewer'),
      ),
    ];
  },
);
export type PostgresqlSinkSpec = Immutable<Static<typeof postgresqlSink>>;
