import { quoted } from '../sql/index.ts';
import type { TrinoClient } from './client.ts';
import { parseType, type TrinoType } from './type.ts';

/** Where a table is. */
export interface TableName {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
}

/** A table as the catalog tells it. */
export interface Table {
  readonly name: TableName;
  /** By their names, in the order of the table. Trino has them all in lower case. */
  readonly columns: ReadonlyMap<string, Column>;
}

export interface Column {
  readonly name: string;
  readonly type: TrinoType;
}

export const sqlName = ({ catalog, schema, table }: TableName): string =>
  [catalog, schema, table].map(quoted).join('.');

/** For people. */
export const shownName = ({ catalog, schema, table }: TableName): string => `${catalog}.${schema}.${table}`;

/** A text as SQL takes it, whatever is in it. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The column that a key of a message belongs to: `userId` is `userid` to Trino. */
export const columnOf = ({ columns }: Table, key: string): Column | undefined =>
  columns.get(key) ?? columns.get(key.toLowerCase());

/** Undefined: there is no such table. */
export async function readTable(client: TrinoClient, name: TableName, signal: AbortSignal): Promise<Table | undefined> {
  const { catalog, schema, table } = name;
  const { rows } = await client.run(
    `SELECT column_name, data_type FROM ${quoted(catalog)}.information_schema.columns ` +
      `WHERE table_schema = ${sqlText(schema.toLowerCase())} AND table_name = ${sqlText(table.toLowerCase())} ORDER BY ordinal_position`,
    signal,
  );
  const columns = new Map<string, Column>();
  for (const [column, type] of rows)
    if (typeof column === 'string' && typeof type === 'string')
      columns.set(column, { name: column, type: parseType(type) });
  return columns.size === 0 ? undefined : { name, columns };
}
