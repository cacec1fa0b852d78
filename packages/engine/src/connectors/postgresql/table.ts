import { quotedTable } from '../sql/index.ts';
import type { Connection } from './connection.ts';

/** A table as the catalog tells it. */
export interface Table {
  /** As it was configured. */
  readonly name: string;
  /** By their names, in the order of the table. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly primaryKey: readonly string[];
  /** Column sets that identify a row: what `ON CONFLICT` can name. */
  readonly uniqueKeys: readonly (readonly string[])[];
  /** Uniqueness that is checked only at the commit; the server refuses `ON CONFLICT` on such a table. */
  readonly hasDeferrableKey: boolean;
}

export interface Column {
  readonly name: string;
  /** As SQL writes it, with length and precision. */
  readonly type: string;
  /** A row can be inserted without it. */
  readonly isOptional: boolean;
  /** The server computes it: nobody can write it. */
  readonly isGenerated: boolean;
  /** An identity that takes a value from outside only when told so. */
  readonly isAlwaysIdentity: boolean;
}

const COLUMNS = `
  SELECT attname, format_type(atttypid, atttypmod), NOT attnotnull OR atthasdef OR attidentity <> '', attgenerated <> '', attidentity = 'a'
  FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** Indexes with a condition or on an expression are no keys: `ON CONFLICT` would have to repeat those. */
const KEYS = `
  SELECT indisprimary, NOT indimmediate,
    (SELECT json_agg(attname ORDER BY place) FROM unnest(indkey[0:indnkeyatts - 1]) WITH ORDINALITY AS k(attnum, place)
     JOIN pg_attribute a ON a.attrelid = indrelid AND a.attnum = k.attnum)
  FROM pg_index
  WHERE indrelid = to_regclass($1) AND (indisunique OR indisexclusion) AND indisvalid AND indpred IS NULL AND indexprs IS NULL`;

/** Undefined: there is no such table. */
export async function readTable(connection: Connection, name: string, signal: AbortSignal): Promise<Table | undefined> {
  const { rows } = await connection.query(COLUMNS, [quotedTable(name)], signal);
  if (rows.length === 0) return undefined;
  const columns = new Map<string, Column>();
  for (const [column = '', type, isOptional, isGenerated, isAlwaysIdentity] of rows) {
    columns.set(column ?? '', {
      name: column ?? '',
      type: type ?? '',
      isOptional: isOptional === 't',
      isGenerated: isGenerated === 't',
      isAlwaysIdentity: isAlwaysIdentity === 't',
    });
  }
  const indexes = (await connection.query(KEYS, [quotedTable(name)], signal)).rows.map(
    ([isPrimary, isDeferrable, key]) => {
      const names: string[] = JSON.parse(key ?? '[]');
      return { isPrimary: isPrimary === 't', isDeferrable: isDeferrable === 't', names };
    },
  );
  return {
    name,
    columns,
    primaryKey: indexes.find((index) => index.isPrimary)?.names ?? [],
    uniqueKeys: indexes.filter((index) => !index.isDeferrable).map((index) => index.names),
    hasDeferrableKey: indexes.some((index) => index.isDeferrable),
  };
}

export const isKey = (table: Table, columns: readonly string[]): boolean =>
  table.uniqueKeys.some((key) => key.length === columns.length && key.every((name) => columns.includes(name)));
