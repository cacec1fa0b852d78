import { type Position, quoted } from '../sql/index.ts';
import { cellOf } from './cell.ts';
import type { ColumnHeader, TrinoClient } from './client.ts';
import type { TrinoSourceConfig } from './config.ts';
import { sqlValue } from './statements.ts';
import { type Column, shownName, sqlName } from './table.ts';
import { inFull, TrinoError } from './trouble.ts';
import { parseType } from './type.ts';

/** What a source reads, and by which columns it knows how far it is. */
export interface Feed {
  /** What comes after FROM. */
  readonly relation: string;
  /** Undefined: nothing tells rows apart, so that all are read at each poll. */
  readonly keyset: Keyset | undefined;
}

export interface Keyset {
  readonly change: Column;
  /** The same column for tables that only grow. */
  readonly order: Column;
}

/** No column of a user is called so. */
const ROW = 'polder_row';

export async function describeFeed(client: TrinoClient, config: TrinoSourceConfig, signal: AbortSignal): Promise<Feed> {
  try {
    return await feedOf(client, config, signal);
  } catch (error) {
    // No row has been read: what is wrong is wrong with the query.
    throw error instanceof TrinoError ? inFull(error) : error;
  }
}

async function feedOf(client: TrinoClient, config: TrinoSourceConfig, signal: AbortSignal): Promise<Feed> {
  const { table, query, changeTrackingColumn, orderByColumn } = config;
  if (query !== undefined && changeTrackingColumn === undefined) {
    const text = withoutSemicolon(query);
    // Asks nothing but whether it could be run.
    await client.run(`EXPLAIN (TYPE VALIDATE) ${text}`, signal);
    // As it is: Trino forgets the order of a query that is part of another.
    return { relation: text, keyset: undefined };
  }
  const relation = relationOf(config);
  const { columns } = await client.run(`SELECT * FROM ${relation} AS ${ROW} LIMIT 0`, signal);
  const subject = query === undefined ? `table ${shownName({ ...config, table: table ?? '' })}` : 'the query';
  const tracked = (name: string, field: string): Column => {
    const header = columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
    if (header) return orderable(header, subject);
    throw new TrinoError(`${subject} has no column "${name}": name one that it has in ${field}`);
  };
  const order = tracked(orderByColumn, 'orderByColumn');
  const change = changeTrackingColumn === undefined ? order : tracked(changeTrackingColumn, 'changeTrackingColumn');
  return { relation, keyset: { change, order } };
}

/**
 * Rows after a position, in order, with the change and the order of each behind its columns. A limit never parts rows of the
 * same key: what is read after them would leave the others behind.
 */
export function feedQuery({ relation, keyset }: Feed, position: Position | undefined, limit: number): string {
  if (!keyset) return relation;
  const [change, order] = [keyset.change, keyset.order].map(reference);
  const conditions = [`${change} IS NOT NULL`, `${order} IS NOT NULL`];
  if (position) conditions.push(after(keyset, position));
  return [
    `SELECT ${ROW}.*, ${comparable(keyset.change)}, ${comparable(keyset.order)} FROM ${relation} AS ${ROW}`,
    `WHERE ${conditions.join(' AND ')} ORDER BY ${change}, ${order}`,
    ...(limit > 0 ? [`FETCH FIRST ${limit} ROWS WITH TIES`] : []),
  ].join(' ');
}

/** One of the rows of which nothing tells where they stand, if there are any. */
export function untrackedQuery({ relation, keyset }: Feed & { readonly keyset: Keyset }): string {
  const isNull = [keyset.change, keyset.order].map((column) => `${reference(column)} IS NULL`);
  return `SELECT 1 FROM ${relation} AS ${ROW} WHERE ${isNull.join(' OR ')} LIMIT 1`;
}

function after({ change, order }: Keyset, position: Position): string {
  const last = { change: position.change ?? undefined, order: position.order ?? undefined };
  if (change.name === order.name || last.change === undefined)
    return `${reference(order)} > ${bound(order, last.order ?? last.change)}`;
  const bounds = { change: bound(change, last.change), order: bound(order, last.order) };
  // The first condition says nothing new; but it is the one that a catalog can look up instead of reading everything.
  return `${reference(change)} >= ${bounds.change} AND (${reference(change)} > ${bounds.change} OR ${reference(order)} > ${bounds.order})`;
}

function bound(column: Column, text: string | undefined): string {
  const cell = text === undefined ? undefined : cellOf(JSON.stringify(text), column.type);
  if (cell && 'text' in cell && cell.text !== null) return sqlValue(column, cell.text);
  throw new TrinoError(
    `the checkpoint has no ${column.type.sql} for column "${column.name}": it is of another table; reset it`,
  );
}

const reference = ({ name }: Column): string => `${ROW}.${quoted(name)}`;

/** With one zone for all, equal moments are equal texts. */
const comparable = (column: Column): string =>
  column.type.kind === 'scalar' && column.type.name === 'timestamp with time zone'
    ? `${reference(column)} AT TIME ZONE 'UTC'`
    : reference(column);

function relationOf({ query, table, catalog, schema }: TrinoSourceConfig): string {
  // On lines of its own: it may end in a comment.
  if (query !== undefined) return `(\n${withoutSemicolon(query)}\n)`;
  if (table !== undefined) return sqlName({ catalog, schema, table });
  throw new TrinoError('a Trino source needs a table or a query');
}

const withoutSemicolon = (query: string): string => query.trim().replace(/;+$/, '');

function orderable({ name, type }: ColumnHeader, subject: string): Column {
  const column = { name, type: parseType(type) };
  if (column.type.kind === 'scalar') return column;
  throw new TrinoError(`column "${name}" of ${subject} is a ${type}, which has no order to read by: name another`);
}
