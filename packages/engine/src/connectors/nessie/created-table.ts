import type { PrimitiveType, Schema } from '../../iceberg/index.ts';
import type { Message } from '../../message.ts';
import { type ColumnType, inferColumns, rowOf } from '../sql/index.ts';
import type { NessieSinkConfig } from './config.ts';
import { DATA, METADATA } from './layout.ts';

/**
 * Iceberg's decimals have a fixed number of digits: as many as there are, on both sides of the point. What has more belongs
 * into a column that somebody chose for it.
 */
const TYPES: Readonly<Record<ColumnType, PrimitiveType>> = {
  boolean: { kind: 'boolean' },
  integer: { kind: 'long' },
  decimal: { kind: 'decimal', precision: 38, scale: 18 },
  double: { kind: 'double' },
  timestamp: { kind: 'timestamp', isUtc: true },
  text: { kind: 'string' },
  json: { kind: 'string' },
};

/** The schema of a table that is to take such messages. Undefined: none of them says what it should be. */
export function schemaFor(batch: readonly Message[], config: NessieSinkConfig): Schema | undefined {
  const columns = config.rawMode ? rawColumns(batch, config) : inferredColumns(batch);
  if (columns.size === 0) return undefined;
  const fields = [...columns].map(([name, type], at) => ({ id: at + 1, name, isRequired: false, type }));
  return { id: 0, fields };
}

/** Those that the messages have a value for and the table does not have. */
export function newColumns(batch: readonly Message[], { fields }: Schema): ReadonlyMap<string, PrimitiveType> {
  const known = new Set(fields.map(({ name }) => name));
  return new Map([...inferredColumns(batch)].filter(([name]) => !known.has(name)));
}

/** A column for each key that was seen with a value. */
function inferredColumns(batch: readonly Message[]): ReadonlyMap<string, PrimitiveType> {
  const form = { isWhole: false, metadata: 'none', metadataPrefix: '' } as const;
  const rows = batch.map((message) => rowOf(message, form)).filter((row) => 'fields' in row);
  return typed(inferColumns(rows.map(({ fields }) => fields)));
}

/** `data`, and `_metadata` or a column for each key of the metadata. */
function rawColumns(batch: readonly Message[], config: NessieSinkConfig): ReadonlyMap<string, PrimitiveType> {
  const columns = new Map<string, PrimitiveType>([[DATA, TYPES.text]]);
  if (!config.flattenMetadataColumns) return columns.set(METADATA, TYPES.text);
  const form = {
    isWhole: true,
    metadata: 'columns',
    metadataPrefix: config.flattenMetadataColumnsPrefix ?? '',
  } as const;
  const rows = batch.map((message) => rowOf(message, form)).filter((row) => 'fields' in row);
  const found = typed(inferColumns(rows.map(({ metadata }) => metadata?.fields ?? new Map<string, string>())));
  for (const [name, type] of found) if (!columns.has(name)) columns.set(name, type);
  return columns;
}

function typed(inferred: ReadonlyMap<string, ColumnType | undefined>): ReadonlyMap<string, PrimitiveType> {
  const columns = new Map<string, PrimitiveType>();
  for (const [name, type] of inferred) if (type) columns.set(name, TYPES[type]);
  return columns;
}
