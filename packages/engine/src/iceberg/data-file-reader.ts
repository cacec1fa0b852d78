import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { type JsonObject, ObjectBuilder } from '../json/index.ts';
import { messageOf } from '../log.ts';
import { jsonOf, type ToJson } from './json-of.ts';
import type { DataFile } from './manifest.ts';
import { IcebergError, unsupported } from './trouble.ts';
import type { Schema } from './types.ts';

/** The bytes of a file from `start` up to, and without, `end`. */
export type ReadRange = (start: number, end: number) => Promise<Buffer>;

/** What Node has is faster. */
const DECOMPRESSORS = {
  ...compressors,
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliDecompressSync(bytes),
};

/** Rows at a time. */
const MOST_ROWS = 1_000;

/**
 * The rows of a Parquet file, a thousand at a time, as objects with the columns of the schema; in memory is one row group, as
 * the file stores it. Columns are found by their ids, whatever they were called when the file was written; those that the file
 * does not have are null.
 */
export async function* readDataFile(
  file: DataFile,
  schema: Schema,
  readRange: ReadRange,
): AsyncGenerator<readonly JsonObject[]> {
  if (file.format !== 'PARQUET')
    throw unsupported(`data file ${file.location} is ${file.format}: only Parquet can be read`);
  try {
    const bytes = new FileWindow(Number(file.size), readRange);
    if (bytes.byteLength <= SMALL_BYTES) await bytes.fetch(0, bytes.byteLength);
    const metadata = await parquetMetadataAsync(bytes, { geoparquet: false });
    const columns = columnsOf(schema, parquetSchema(metadata));
    const plain = withPlainTypes(metadata);
    for (const group of plain.row_groups) {
      const data = await columnsIn(group, plain, columns, bytes);
      const count = Number(group.num_rows);
      for (let from = 0; from < count; from += MOST_ROWS)
        yield rowsOf(columns, data, from, Math.min(from + MOST_ROWS, count));
    }
  } catch (error) {
    if (error instanceof IcebergError || !(error instanceof Error) || error.name === 'AbortError') throw error;
    throw unsupported(`data file ${file.location} can't be read: ${messageOf(error)}`);
  }
}

interface Column {
  readonly name: string;
  /** Of the file. Undefined: it does not have the column. */
  readonly fileName: string | undefined;
  readonly toJson: ToJson;
}

/** The values of a column in a row group. Undefined: the file does not have it. */
type ColumnData = ArrayLike<unknown> | undefined;

async function columnsIn(
  group: RowGroup,
  metadata: FileMetaData,
  columns: readonly Column[],
  file: FileWindow,
): Promise<readonly ColumnData[]> {
  const fileNames = new Set(columns.flatMap(({ fileName }) => fileName ?? []));
  const rowEnd = Number(group.num_rows);
  if (fileNames.size === 0 || rowEnd === 0) return [];
  // At once, and not column by column.
  await file.fetch(...byteRange(group, fileNames));
  const scan = await parquetScan({
    file,
    metadata: { ...metadata, row_groups: [group], num_rows: group.num_rows },
    columns: [...fileNames],
    compressors: DECOMPRESSORS,
    utf8: false,
    useOffsetIndex: false,
    // The one type that has no other meaning: the moments of old files.
    parsers: { timestampFromNanoseconds: (nanos) => nanos },
  });
  const read = async ({ fileName: column }: Column): Promise<ColumnData> =>
    column === undefined ? undefined : scan.readColumn({ column, rowStart: 0, rowEnd });
  return Promise.all(columns.map(read));
}

/** From the first byte of these columns up to behind their last one. */
function byteRange({ columns }: RowGroup, names: ReadonlySet<string>): [start: number, end: number] {
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (const { meta_data } of columns) {
    if (meta_data === undefined || !names.has(meta_data.path_in_schema[0] ?? '')) continue;
    const { data_page_offset, dictionary_page_offset, total_compressed_size } = meta_data;
    // Some writers say 0 for none.
    const first = Math.min(Number(data_page_offset), Number(dictionary_page_offset) || Number.POSITIVE_INFINITY);
    start = Math.min(start, first);
    end = Math.max(end, first + Number(total_compressed_size));
  }
  return [start, end];
}

function rowsOf(columns: readonly Column[], data: readonly ColumnData[], from: number, to: number): JsonObject[] {
  const rows: JsonObject[] = [];
  for (let at = from; at < to; at++) {
    const row = new ObjectBuilder();
    columns.forEach(({ name, toJson }, index) => row.set(name, toJson(data[index]?.[at])));
    rows.push(row.build());
  }
  return rows;
}

function columnsOf(schema: Schema, tree: SchemaTree): readonly Column[] {
  // Files that were written without Iceberg and taken over have no ids.
  const hasIds = tree.children.some(({ element }) => element.field_id !== undefined);
  return schema.fields.map((field) => {
    const node = tree.children.find(({ element }) =>
      hasIds ? element.field_id === field.id : element.name === field.name,
    );
    return {
      name: field.name,
      fileName: node?.element.name,
      toJson: node === undefined ? () => null : jsonOf(field.type, node),
    };
  });
}

/**
 * Without what would make JavaScript's dates and floats of exact numbers: leaves but texts are read as they are stored, and
 * maps as the lists of pairs that they are.
 */
function withPlainTypes(metadata: FileMetaData): FileMetaData {
  return { ...metadata, schema: metadata.schema.map(plain) };
}

function plain(element: SchemaElement): SchemaElement {
  const { converted_type, logical_type, ...rest } = element;
  if (element.type === undefined) {
    const isList = converted_type === 'LIST' || logical_type?.type === 'LIST';
    return { ...rest, ...(isList && { converted_type: 'LIST' }) };
  }
  const isText = converted_type === 'UTF8' || logical_type?.type === 'STRING';
  return { ...rest, ...(isText && { converted_type: 'UTF8' }) };
}

/** Files up to this are read with one request. */
const SMALL_BYTES = 1 << 20;

/** A file of which a part is at hand. */
class FileWindow implements AsyncBuffer {
  readonly byteLength: number;
  readonly #readRange: ReadRange;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(byteLength: number, readRange: ReadRange) {
    this.byteLength = byteLength;
    this.#readRange = readRange;
  }

  /** In place of what was at hand before. */
  async fetch(start: number, end: number): Promise<void> {
    if (this.#has(start, end)) return;
    this.#bytes = await this.#readRange(start, end);
    this.#start = start;
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    const bytes = this.#has(start, end)
      ? this.#bytes.subarray(start - this.#start, end - this.#start)
      : await this.#readRange(start, end);
    return new Uint8Array(bytes).buffer;
  }

  #has(start: number, end: number): boolean {
    return start >= this.#start && end <= this.#start + this.#bytes.length;
  }
}
