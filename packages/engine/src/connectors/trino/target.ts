import { keyColumns } from '../sql/index.ts';
import type { TrinoSinkConfig } from './config.ts';
import { columnOf, shownName, type Table } from './table.ts';
import { TrinoError } from './trouble.ts';

/** Where and how a sink writes: its configuration, seen against the table that is there. */
export interface Target {
  readonly table: Table;
  /** `columns`: each key of a body into the column of its name. `data`: the body as a whole into the column `data`. */
  readonly layout: 'columns' | 'data';
  /** The columns that tell rows apart; empty unless rows are merged. */
  readonly key: readonly string[];
  readonly metadata: 'none' | 'json' | 'columns';
  readonly metadataPrefix: string;
}

export function targetOf(table: Table, config: TrinoSinkConfig): Target {
  const { rawMode, flattenMetadataColumns, upsertMode, conflictKey = '' } = config;
  const metadata = flattenMetadataColumns ? 'columns' : rawMode ? 'json' : 'none';
  if (rawMode) needs(table, 'data', 'rawMode');
  if (metadata === 'json') needs(table, '_metadata', 'rawMode');
  const key = upsertMode ? keyColumns(conflictKey).map((column) => needs(table, column, 'conflictKey')) : [];
  if (upsertMode && key.length === 0)
    throw new TrinoError('upsertMode needs conflictKey: name the columns that tell rows apart');
  return {
    table,
    layout: rawMode || isDataTable(table) ? 'data' : 'columns',
    key,
    metadata,
    metadataPrefix: config.flattenMetadataColumnsPrefix ?? '',
  };
}

/** A table that has nothing but `data` takes whole bodies there: other programs that write flows create such tables. */
function isDataTable({ columns }: Table): boolean {
  return columns.size === 1 && columns.has('data');
}

function needs(table: Table, column: string, because: string): string {
  const found = columnOf(table, column);
  if (found) return found.name;
  throw new TrinoError(`table ${shownName(table.name)} has no column "${column}", which ${because} needs`);
}
