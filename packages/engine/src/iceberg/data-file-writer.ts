import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, parquetWrite } from 'hyparquet-writer';
import type { Cell } from './cell.ts';
import type { ColumnStatistics } from './manifest.ts';
import { parquetSchemaOf } from './parquet-schema.ts';
import { statisticsOf } from './statistics.ts';
import type { Schema } from './types.ts';

/** A data file before it has a place. */
export interface EncodedFile {
  readonly bytes: Uint8Array;
  readonly recordCount: bigint;
  readonly statistics: readonly ColumnStatistics[];
  readonly splitOffsets: readonly bigint[];
}

const ROWS_OF_GROUP = 100_000;
/** What every Parquet file begins with: the first row group comes right behind it. */
const MAGIC_BYTES = 4n;

/** Rows by the columns of the schema, in its order. */
export function encodeDataFile(schema: Schema, rows: readonly (readonly Cell[])[]): EncodedFile {
  const columns = schema.fields.map((field, at) => ({ field, cells: rows.map((row) => row[at] ?? null) }));
  const writer = new ByteWriter();
  void parquetWrite({
    writer,
    schema: parquetSchemaOf(schema),
    columnData: columns.map(({ field, cells }) => ({ name: field.name, data: cells })),
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    rowGroupSize: ROWS_OF_GROUP,
    // Those of the writer are in the order of JavaScript and cut texts within characters; the manifest has right ones.
    statistics: false,
  });
  return {
    bytes: writer.getBytes(),
    recordCount: BigInt(rows.length),
    statistics: columns.flatMap(({ field, cells }) => statisticsOf(field, cells) ?? []),
    splitOffsets: [MAGIC_BYTES],
  };
}
