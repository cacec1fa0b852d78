import { type ColumnType, quoted } from '../sql/index.ts';
import { sqlName, type TableName } from './table.ts';

/**
 * Types that most catalogs have: an Iceberg table knows moments to the microsecond and no JSON. The decimal holds unsigned
 * integers of 64 bits and 18 places after the point.
 */
const TYPES: Readonly<Record<ColumnType, string>> = {
  boolean: 'boolean',
  integer: 'bigint',
  decimal: 'decimal(38, 18)',
  double: 'double',
  timestamp: 'timestamp(6) with time zone',
  text: 'varchar',
  json: 'varchar',
};

/** A column for each key that was seen with a value. Keys that differ in their case alone are one column. */
export function createTable(name: TableName, inferred: ReadonlyMap<string, ColumnType | undefined>): string {
  const columns = new Map<string, string>();
  for (const [key, type] of inferred) if (type) columns.set(key.toLowerCase(), `${quoted(key)} ${TYPES[type]}`);
  return `CREATE TABLE IF NOT EXISTS ${sqlName(name)} (${[...columns.values()].join(', ')})`;
}

export const addColumn = (name: TableName, column: string, type: ColumnType): string =>
  `ALTER TABLE ${sqlName(name)} ADD COLUMN IF NOT EXISTS ${quoted(column)} ${TYPES[type]}`;
