import { type ColumnType, partsOf, quoted, quotedTable } from '../sql/index.ts';

const TYPES: Readonly<Record<ColumnType, string>> = {
  boolean: 'boolean',
  integer: 'bigint',
  decimal: 'numeric',
  double: 'double precision',
  timestamp: 'timestamptz',
  text: 'text',
  json: 'jsonb',
};

export const typeName = (type: ColumnType): string => TYPES[type];

/** A column for each key that was seen with a value. */
export function createColumnarTable(
  table: string,
  inferred: ReadonlyMap<string, ColumnType | undefined>,
  key: readonly string[],
  softDeleteColumn: string | undefined,
): string {
  const columns = [...inferred].flatMap(([name, type]) => (type ? [`${quoted(name)} ${TYPES[type]}`] : []));
  if (softDeleteColumn !== undefined && !inferred.get(softDeleteColumn))
    columns.push(`${quoted(softDeleteColumn)} timestamptz`);
  if (key.length > 0) columns.push(`PRIMARY KEY (${key.map(quoted).join(', ')})`);
  return `CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (${columns.join(', ')})`;
}

/** `inferred`: the columns of the key, unless that is the number the table counts up itself, and those of flat metadata. */
export function createRawTable(
  table: string,
  inferred: ReadonlyMap<string, ColumnType | undefined>,
  key: readonly string[],
  hasMetadata: boolean,
  softDeleteColumn: string | undefined,
): readonly string[] {
  const columns = [
    ...(inferred.has('id') ? [] : [`"id" bigserial${key.length > 0 ? '' : ' PRIMARY KEY'}`]),
    '"data" jsonb NOT NULL',
    ...(hasMetadata ? ['"_metadata" jsonb'] : []),
    '"created_at" timestamptz DEFAULT now()',
    '"updated_at" timestamptz DEFAULT now()',
    '"deleted_at" timestamptz',
  ];
  const taken = new Set(['data', '_metadata', 'created_at', 'updated_at', 'deleted_at']);
  for (const [name, type] of inferred) if (!taken.has(name)) columns.push(`${quoted(name)} ${TYPES[type ?? 'text']}`);
  if (softDeleteColumn !== undefined && !taken.has(softDeleteColumn) && !inferred.has(softDeleteColumn))
    columns.push(`${quoted(softDeleteColumn)} timestamptz`);
  if (key.length > 0) columns.push(`PRIMARY KEY (${key.map(quoted).join(', ')})`);
  const index = quoted(`idx_${partsOf(table).at(-1) ?? table}_data`);
  return [
    `CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (${columns.join(', ')})`,
    `CREATE INDEX IF NOT EXISTS ${index} ON ${quotedTable(table)} USING gin ("data")`,
  ];
}

export const addColumns = (table: string, columns: ReadonlyMap<string, ColumnType>): string =>
  `ALTER TABLE ${quotedTable(table)} ${[...columns]
    .map(([name, type]) => `ADD COLUMN IF NOT EXISTS ${quoted(name)} ${TYPES[type]}`)
    .join(', ')}`;
