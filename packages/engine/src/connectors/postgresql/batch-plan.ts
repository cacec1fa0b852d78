import type { Failure, Message } from '../../message.ts';
import { type Group, Groups, identityOf, type Row, refused, rowOf } from '../sql/index.ts';
import { deleteStatement, type Shape, writeStatement } from './statements.ts';
import type { Column } from './table.ts';
import type { Target } from './target.ts';
import { textArray } from './text-array.ts';

/** What to tell the server to write a batch. Made without asking it. */
export interface BatchPlan {
  /** In this order, in one transaction. */
  readonly statements: readonly Statement[];
  /** Messages that no statement could take. */
  readonly failures: readonly Failure[];
  /** Keys that are left out since the table has no such column. */
  readonly unknownKeys: ReadonlySet<string>;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly Buffer[];
  /** How many rows it adds if none of them is there. */
  readonly appends: number;
}

/** The server takes no value above 1 GB; far below it, smaller statements cost nothing. */
const MOST_BYTES = 64 * 1024 * 1024;

export function planBatch(batch: readonly Message[], target: Target): BatchPlan {
  const groups = new Groups<Row, Shape>(MOST_BYTES);
  const failures: Failure[] = [];
  const shapes = new Shapes(target);
  const form = { isWhole: target.layout === 'data', metadata: target.metadata, metadataPrefix: target.metadataPrefix };
  const isDelete = ({ metadata }: Message) => target.appliesDeletes && metadata['operation'] === 'delete';
  const isKeyed = target.isUpsert || batch.some(isDelete);
  for (const message of batch) {
    const row = rowOf(message, form);
    if ('because' in row) {
      failures.push(row);
      continue;
    }
    const identity = isKeyed ? identityOf(row, target.key) : undefined;
    const shape = shapes.of(row, isDelete(message) ? 'delete' : 'write');
    const objection = objectionTo(target, row, shape, identity);
    if (objection === undefined) groups.add(row, shape, { identity, size: sizeOf(row) });
    else failures.push(refused(message, objection));
  }
  return {
    statements: groups.all.map((group) => statementOf(group, target)),
    failures,
    unknownKeys: shapes.unknownKeys,
  };
}

function objectionTo(target: Target, row: Row, shape: Shape, identity: string | undefined): string | undefined {
  const { table, key, isUpsert, versionColumn } = target;
  if (identity === undefined && (isUpsert || shape.operation === 'delete'))
    return `it has no value for ${key.map((name) => `"${name}"`).join(', ')}, which identifies its row in table ${table.name}`;
  if (shape.operation === 'delete') return undefined;
  if (versionColumn !== undefined && !row.fields.has(versionColumn))
    return `it has no "${versionColumn}", which tells whether it is newer than its row in table ${table.name}`;
  if (target.layout === 'columns' && shape.columns.length === 0)
    return `none of its keys is a column of table ${table.name}`;
  return undefined;
}

/** Which columns a row fills. Most rows have the keys of the one before, and are not looked at any closer. */
class Shapes {
  readonly unknownKeys = new Set<string>();
  readonly #target: Target;
  readonly #byColumns = new Map<string, Shape>();
  #last: { readonly row: Row; readonly shape: Shape } | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  of(row: Row, operation: Shape['operation']): Shape {
    const last = this.#last;
    if (last?.shape.operation === operation && hasKeysOf(row, last.row)) return last.shape;
    const shape = this.#shapeOf(row, operation);
    // Keys in another order, or with others that have no column, are no other shape.
    const columns = [shape.columns, shape.metadataColumns].map((some) => some.map(({ name }) => name));
    const id = JSON.stringify([operation, ...columns]);
    const same = this.#byColumns.get(id) ?? shape;
    this.#byColumns.set(id, same);
    this.#last = { row, shape: same };
    return same;
  }

  #shapeOf(row: Row, operation: Shape['operation']): Shape {
    const { table, key, versionColumn, layout } = this.#target;
    const isKeyOrVersion = (name: string) => key.includes(name) || name === versionColumn;
    const isWanted =
      operation === 'delete' || (layout === 'data' && this.#target.isUpsert)
        ? isKeyOrVersion
        : () => layout === 'columns';
    const columns = [...table.columns.values()].filter(
      (column) => row.fields.has(column.name) && isWritable(column) && isWanted(column.name),
    );
    const metadataKeys = operation === 'delete' ? [] : [...(row.metadata?.fields.keys() ?? [])];
    const taken = new Set([...columns.map(({ name }) => name), ...(layout === 'data' ? ['data'] : [])]);
    const metadataColumns = [...table.columns.values()].filter(
      (column) => metadataKeys.includes(column.name) && isWritable(column) && !taken.has(column.name),
    );
    const bodyKeys = layout === 'columns' && operation === 'write' ? row.fields.keys() : [];
    for (const name of [...bodyKeys, ...metadataKeys]) if (!table.columns.has(name)) this.unknownKeys.add(name);
    return { operation, columns, metadataColumns };
  }
}

const hasKeysOf = (row: Row, other: Row): boolean =>
  isSameSequence(row.fields, other.fields) &&
  (row.metadata === other.metadata || isSameSequence(row.metadata?.fields, other.metadata?.fields));

function isSameSequence(
  a: ReadonlyMap<string, string> | undefined,
  b: ReadonlyMap<string, string> | undefined,
): boolean {
  if (a === undefined || b === undefined || a.size !== b.size) return false;
  const others = b.keys();
  for (const key of a.keys()) if (key !== others.next().value) return false;
  return true;
}

const isWritable = (column: Column): boolean => !column.isGenerated;

const sizeOf = ({ body, metadata }: Row): number => body.length + (metadata?.text.length ?? 0);

function statementOf({ shape, rows }: Group<Row, Shape>, target: Target): Statement {
  const bodies = textArray(rows.map((row) => row.body));
  if (shape.operation === 'delete') return { text: deleteStatement(target, shape), values: [bodies], appends: 0 };
  const metadata = rows.flatMap((row) => row.metadata?.text ?? []);
  return {
    text: writeStatement(target, shape),
    values: target.metadata === 'none' ? [bodies] : [bodies, textArray(metadata)],
    appends: rows.length,
  };
}
