import { isUtf8 } from 'node:buffer';
import type { Failure, Message } from '../../message.ts';
import { Groups, type Row, refused, rowOf } from '../sql/index.ts';
import { cellOf } from './cell.ts';
import { rowText, type Shape, statementOf } from './statements.ts';
import { type Column, columnOf, shownName } from './table.ts';
import type { Target } from './target.ts';

/** What to tell Trino to write a batch. Made without asking it. */
export interface BatchPlan {
  /** In this order. Each is written as a whole, or not at all; together they are not. */
  readonly statements: readonly Statement[];
  /** Messages that no statement could take. */
  readonly failures: readonly Failure[];
  /** Keys that are left out since the table has no such column. */
  readonly unknownKeys: ReadonlySet<string>;
}

export interface Statement {
  readonly sql: string;
  readonly messages: readonly Message[];
}

/** Trino refuses statements of more than 1,000,000 characters unless told otherwise; this leaves room for the rest of it. */
const MOST_CHARACTERS = 800_000;

export function planBatch(batch: readonly Message[], target: Target, mostCharacters = MOST_CHARACTERS): BatchPlan {
  const failures: Failure[] = [];
  const unknownKeys = new Set<string>();
  const filled: Filled[] = [];
  for (const message of batch) {
    const row = fill(message, target, unknownKeys);
    if ('because' in row) failures.push(refused(message, row.because));
    else filled.push(row);
  }
  const shapeOf = target.key.length > 0 ? shapesByColumns(target) : oneShape(filled, target);
  const groups = new Groups<Planned, Shape>(mostCharacters);
  for (const { message, cells, identity, isDelete } of filled) {
    const shape = shapeOf(cells, isDelete);
    const text = rowText(shape.columns.map(({ name }) => cells.get(name) ?? null));
    groups.add({ message, text, identity }, shape, { identity, size: text.length + 1 });
  }
  const statements = groups.all.map(({ shape, rows }) => ({
    sql: statementOf(target, shape, textsOf(rows)),
    messages: rows.map(({ message }) => message),
  }));
  return { statements, failures, unknownKeys };
}

interface Planned {
  readonly message: Message;
  readonly text: string;
  readonly identity: string | undefined;
}

/** Of rows with one key the last would win; Trino refuses to update a row twice in one statement. */
function textsOf(rows: readonly Planned[]): readonly string[] {
  const last = new Map<string | Planned, string>();
  for (const row of rows) last.set(row.identity ?? row, row.text);
  return [...last.values()];
}

/** A message, taken apart into the columns of the table. */
interface Filled {
  readonly message: Message;
  /** By the names of the columns. Null: SQL NULL. */
  readonly cells: ReadonlyMap<string, string | null>;
  /** Equal for messages about the same row; undefined where rows are only added. */
  readonly identity: string | undefined;
  readonly isDelete: boolean;
}

interface Objection {
  readonly because: string;
}

function fill(message: Message, target: Target, unknownKeys: Set<string>): Filled | Objection {
  const isWhole = target.layout === 'data';
  const row = rowOf(message, { isWhole, metadata: target.metadata, metadataPrefix: target.metadataPrefix });
  if ('because' in row) return row;
  const objection = objectionTo(message, target);
  if (objection !== undefined) return { because: objection };
  const isDelete = target.key.length > 0 && message.metadata['operation'] === 'delete';
  const cells = new Map<string, string | null>();
  for (const [column, json] of wantedFields(row, target, isDelete, unknownKeys)) {
    const cell = cellOf(json, column.type);
    if ('because' in cell)
      return { because: `column "${column.name}" of table ${shownName(target.table.name)}: it ${cell.because}` };
    cells.set(column.name, cell.text);
  }
  if (cells.size === 0) return { because: `none of its keys is a column of table ${shownName(target.table.name)}` };
  if (target.key.length === 0) return { message, cells, identity: undefined, isDelete };
  const values = target.key.map((name) => cells.get(name) ?? undefined);
  if (values.includes(undefined))
    return {
      because: `it has no value for ${target.key.map((name) => `"${name}"`).join(', ')}, which identifies its row in table ${shownName(target.table.name)}`,
    };
  return { message, cells, identity: JSON.stringify(values), isDelete };
}

function objectionTo({ payload }: Message, { layout, table }: Target): string | undefined {
  if (payload === null) return undefined;
  const isText = layout === 'data' && columnOf(table, 'data')?.type.sql !== 'json';
  if (!isText) return payload.json === undefined ? 'its payload is no JSON' : undefined;
  return isUtf8(payload.bytes) ? undefined : 'its payload is no text (UTF-8)';
}

/** The columns that a row fills, with the JSON that goes there. */
function* wantedFields(
  row: Row,
  { table, layout, key, metadata }: Target,
  isDelete: boolean,
  unknownKeys: Set<string>,
): Iterable<readonly [Column, string]> {
  const isKey = (name: string) => key.includes(name);
  const isWanted = isDelete || layout === 'data' ? isKey : () => true;
  // First, so that where a key of the body has the same name that one wins.
  for (const [name, json] of isDelete ? [] : (row.metadata?.fields ?? [])) {
    const column = columnOf(table, name);
    if (column) yield [column, json];
    else if (json !== 'null') unknownKeys.add(name);
  }
  for (const [name, json] of row.fields) {
    const column = columnOf(table, name);
    if (column && isWanted(column.name)) yield [column, json];
    else if (!column && layout === 'columns' && !isDelete && json !== 'null') unknownKeys.add(name);
  }
  if (isDelete || layout === 'columns') return;
  yield* wholeField(table.columns.get('data'), row.body);
  if (metadata === 'json') yield* wholeField(table.columns.get('_metadata'), row.metadata?.text);
}

/** A text as a whole into a column of texts, or of JSON. */
function* wholeField(column: Column | undefined, text: Buffer | undefined): Iterable<readonly [Column, string]> {
  if (!column || !text) return;
  yield [column, column.type.sql === 'json' ? text.toString() : JSON.stringify(text.toString())];
}

/** Rows that are added may share a statement whatever they fill: what one of them lacks is NULL. */
function oneShape(rows: readonly Filled[], { table }: Target): () => Shape {
  const filled = new Set(rows.flatMap(({ cells }) => [...cells.keys()]));
  const shape = {
    operation: 'insert' as const,
    columns: [...table.columns.values()].filter(({ name }) => filled.has(name)),
  };
  return () => shape;
}

/** Rows that are updated keep what a message does not tell of, so that only those with the same columns go together. */
function shapesByColumns({ table }: Target): (cells: ReadonlyMap<string, unknown>, isDelete: boolean) => Shape {
  const shapes = new Map<string, Shape>();
  return (cells, isDelete) => {
    const columns = [...table.columns.values()].filter(({ name }) => cells.has(name));
    const operation = isDelete ? 'delete' : 'merge';
    const id = JSON.stringify([operation, ...columns.map(({ name }) => name)]);
    const shape = shapes.get(id) ?? { operation, columns };
    shapes.set(id, shape);
    return shape;
  };
}
