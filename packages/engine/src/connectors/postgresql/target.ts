import { keyColumns } from '../sql/index.ts';
import type { PostgresSinkConfig } from './config.ts';
import { isKey, type Table } from './table.ts';
import { PostgresError } from './trouble.ts';

/** Where and how a sink writes: its configuration, seen against the table that is there. */
export interface Target {
  readonly table: Table;
  /** `columns`: each key of a body into the column of its name. `data`: the body as a whole into the column `data`. */
  readonly layout: 'columns' | 'data';
  /** What tells rows apart; empty if nothing does. */
  readonly key: readonly string[];
  readonly isUpsert: boolean;
  /** Updates and deletes that carry an older value here than the row has change nothing. */
  readonly versionColumn: string | undefined;
  readonly softDeleteColumn: string | undefined;
  /** A message with the operation `delete` removes its row; otherwise it is written like any other. */
  readonly appliesDeletes: boolean;
  readonly metadata: 'none' | 'json' | 'columns';
  readonly metadataPrefix: string;
}

export function targetOf(table: Table, config: PostgresSinkConfig): Target {
  const isUpsert = config.upsertMode ?? false;
  const key = config.conflictKey === undefined ? table.primaryKey : keyColumns(config.conflictKey);
  const layout = config.rawMode || isDataTable(table, key) ? 'data' : 'columns';
  const metadata = config.flattenMetadataColumns ? 'columns' : config.rawMode ? 'json' : 'none';
  const versionColumn = config.upsertStrategy === 'ifNewer' ? config.upsertVersionColumn : undefined;
  const { softDeleteColumn } = config;

  if (config.rawMode) needs(table, 'data', 'rawMode');
  if (metadata === 'json') needs(table, '_metadata', 'rawMode');
  if (metadata === 'columns' && table.columns.has('_metadata'))
    throw new PostgresError(
      `table ${table.name} has a column "_metadata", which does not go with flattenMetadataColumns: use another table`,
    );
  if (config.upsertStrategy === 'ifNewer' && versionColumn === undefined)
    throw new PostgresError('upsertStrategy ifNewer needs upsertVersionColumn');
  if (versionColumn !== undefined) needs(table, versionColumn, 'upsertVersionColumn');
  if (softDeleteColumn !== undefined) needs(table, softDeleteColumn, 'softDeleteColumn');
  if ((isUpsert || softDeleteColumn !== undefined) && key.length === 0)
    throw new PostgresError(
      `table ${table.name} has no primary key: name the columns that identify a row in conflictKey`,
    );
  for (const column of key) needs(table, column, 'conflictKey');
  if (isUpsert && !isKey(table, key))
    throw new PostgresError(
      `upsertMode needs a unique index on (${key.join(', ')}) of table ${table.name}: create one, or name another conflictKey`,
    );

  const appliesDeletes = key.length > 0 && (isUpsert || softDeleteColumn !== undefined || layout === 'columns');
  const metadataPrefix = config.flattenMetadataColumnsPrefix ?? '';
  return { table, layout, key, isUpsert, versionColumn, softDeleteColumn, appliesDeletes, metadata, metadataPrefix };
}

/**
 * A table with a `data` of type jsonb that is content with it takes whole bodies there. Where other columns must be given too
 * (an outbox with its type and time), `data` is one key among others.
 */
function isDataTable(table: Table, key: readonly string[]): boolean {
  if (table.columns.get('data')?.type !== 'jsonb') return false;
  return [...table.columns.values()].every(
    ({ name, isOptional }) => name === 'data' || isOptional || key.includes(name),
  );
}

function needs(table: Table, column: string, because: string): void {
  if (!table.columns.has(column))
    throw new PostgresError(`table ${table.name} has no column "${column}", which ${because} needs`);
}
