/** How messages become rows: the configuration, seen against the schema that is there. */
import { isUtf8 } from 'node:buffer';
import { type Cell, type Field, IcebergError, Misfit, type Schema, type ToCell, toCell } from '../../iceberg/index.ts';
import { entriesOf, get, isObject, type Json, parseJson } from '../../json/index.ts';
import type { Failure, Message } from '../../message.ts';
import { type RowForm, refused, rowOf } from '../sql/index.ts';
import type { NessieSinkConfig } from './config.ts';

export const DATA = 'data';
export const METADATA = '_metadata';

export interface Layout {
  readonly schema: Schema;
  /** `columns`: each key of a body into the column of its name. `data`: the body as a whole into the column `data`. */
  readonly body: 'columns' | 'data';
  readonly form: RowForm;
}

export interface Rows {
  /** The cells of a row are in the order of the schema. */
  readonly rows: readonly (readonly Cell[])[];
  readonly written: readonly Message[];
  readonly failures: readonly Failure[];
  /** Keys that are left out since the table has no such column. */
  readonly unknownKeys: ReadonlySet<string>;
}

export function layoutOf(schema: Schema, config: NessieSinkConfig, label: string): Layout {
  const { rawMode, flattenMetadataColumns, flattenMetadataColumnsPrefix: metadataPrefix = '' } = config;
  const metadata = flattenMetadataColumns ? 'columns' : rawMode ? 'json' : 'none';
  if (rawMode) needText(schema, DATA, label);
  if (metadata === 'json') needText(schema, METADATA, label);
  const [only, ...others] = schema.fields;
  const isDataTable = others.length === 0 && only?.name === DATA && only.type.kind === 'string';
  const body = rawMode || isDataTable ? 'data' : 'columns';
  return { schema, body, form: { isWhole: body === 'data', metadata, metadataPrefix } };
}

function needText({ fields }: Schema, name: string, label: string): void {
  if (fields.some((field) => field.name === name && field.type.kind === 'string')) return;
  throw new IcebergError(`table ${label} has no column "${name}" of type string, which rawMode needs`);
}

/** Made once for a schema. */
export function rowMaker({ schema, body, form }: Layout, label: string): (batch: readonly Message[]) => Rows {
  const columns = schema.fields.map((field) => ({ field, convert: toCell(field) }));
  const names = new Set(schema.fields.map(({ name }) => name));
  const values = body === 'data' ? wholeValues(names, form) : fieldValues(names, label);
  return (batch) => {
    const rows: (readonly Cell[])[] = [];
    const written: Message[] = [];
    const failures: Failure[] = [];
    const unknownKeys = new Set<string>();
    for (const message of batch) {
      const found = values(message, unknownKeys);
      const cells = typeof found === 'string' ? new Misfit(found) : cellsOf(columns, found);
      if (cells instanceof Misfit) failures.push(refused(message, cells.because));
      else {
        rows.push(cells);
        written.push(message);
      }
    }
    return { rows, written, failures, unknownKeys };
  };
}

function cellsOf(
  columns: readonly { readonly field: Field; readonly convert: ToCell }[],
  valueOf: (name: string) => Json | undefined,
): readonly Cell[] | Misfit {
  const cells: Cell[] = [];
  for (const { field, convert } of columns) {
    const cell = convert(valueOf(field.name));
    if (cell instanceof Misfit) return cell;
    cells.push(cell);
  }
  return cells;
}

/** The value for each column, or why there is none for any. */
type Values = (message: Message, unknownKeys: Set<string>) => ((name: string) => Json | undefined) | string;

function fieldValues(names: ReadonlySet<string>, label: string): Values {
  return ({ payload }, unknownKeys) => {
    const json = payload?.json;
    if (!isObject(json)) return payload === null ? 'it has no payload' : 'its payload is no JSON object';
    let isKnown = false;
    for (const [key, value] of entriesOf(json)) {
      if (names.has(key)) isKnown = true;
      else if (value !== null) unknownKeys.add(key);
    }
    return isKnown ? (name) => get(json, name) : `none of its keys is a column of table ${label}`;
  };
}

function wholeValues(names: ReadonlySet<string>, form: RowForm): Values {
  return (message, unknownKeys) => {
    if (message.payload !== null && !isUtf8(message.payload.bytes)) return 'its payload is no UTF-8 text';
    const row = rowOf(message, form);
    if ('because' in row) return row.because;
    const { metadata } = row;
    for (const key of metadata?.fields.keys() ?? []) if (!names.has(key)) unknownKeys.add(key);
    return (name) => {
      if (name === DATA) return row.body.toString();
      if (metadata === undefined) return undefined;
      if (form.metadata === 'json') return name === METADATA ? metadata.text.toString() : undefined;
      return parseJson(metadata.fields.get(name) ?? 'null');
    };
  };
}
