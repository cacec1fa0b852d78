/** Manifests: which data files a snapshot has, with what is known of each. */
import { type Json, type PlainObject, printJson } from '../json/index.ts';
import { type AvroRecord, decodeAvro, encodeAvro } from './avro-file.ts';
import { type PartitionSpec, partitionSpecJson } from './metadata.ts';
import { type PartitionTuple, partitionSchema } from './partition.ts';
import { unsupported } from './trouble.ts';
import { type Schema, schemaJson } from './types.ts';

export interface DataFile {
  readonly content: 'data' | 'position-deletes' | 'equality-deletes';
  readonly location: string;
  /** `PARQUET`, `AVRO`, `ORC`, `PUFFIN`. */
  readonly format: string;
  readonly recordCount: bigint;
  readonly size: bigint;
}

/** A data file with what its writer knows of it. */
export interface WrittenFile extends DataFile {
  readonly partition: PartitionTuple;
  readonly statistics: readonly ColumnStatistics[];
  /** Where its row groups begin. */
  readonly splitOffsets: readonly bigint[];
}

export interface ColumnStatistics {
  readonly fieldId: number;
  readonly values: bigint;
  readonly nulls: bigint;
  /** Undefined: the column has no such thing. */
  readonly nans: bigint | undefined;
  /** No value that is neither null nor NaN is below the one or above the other. Undefined: not known. */
  readonly lower: Buffer | undefined;
  readonly upper: Buffer | undefined;
}

export interface ManifestEntry {
  readonly status: 'existing' | 'added' | 'deleted';
  /** Undefined: that of the manifest, which its list tells. */
  readonly snapshotId: bigint | undefined;
  readonly fileSequenceNumber: bigint | undefined;
  readonly file: DataFile;
}

const STATUSES = ['existing', 'added', 'deleted'] as const;
const CONTENTS = ['data', 'position-deletes', 'equality-deletes'] as const;

/**
 * A manifest of files that are being added. Neither the snapshot nor its number are in it: they are inherited from the list
 * that names the manifest, so that it stays as it is when the commit has to be tried again.
 */
export function encodeManifest(files: readonly WrittenFile[], schema: Schema, spec: PartitionSpec): Buffer {
  const metadata = new Map([
    ['schema', printJson(schemaJson(schema))],
    ['schema-id', String(schema.id)],
    ['partition-spec', printJson(partitionSpecJson(spec))],
    ['partition-spec-id', String(spec.id)],
    ['format-version', '2'],
    ['content', 'data'],
  ]);
  return encodeAvro(manifestSchema(partitionSchema(spec, schema)), metadata, files.map(entryRecord));
}

export function decodeManifest(bytes: Buffer, location: string): readonly ManifestEntry[] {
  const what = `manifest ${location}`;
  return decodeAvro(bytes, what).records.map((record) => entryOf(record, what));
}

function entryOf(record: AvroRecord, what: string): ManifestEntry {
  const status = typeof record['f0'] === 'number' ? STATUSES[record['f0']] : undefined;
  const file = record['f2'];
  if (status === undefined || !isRecord(file)) throw unsupported(`an entry of ${what} has no status or no file`);
  return {
    status,
    snapshotId: bigintOf(record['f1']),
    fileSequenceNumber: bigintOf(record['f4']),
    file: fileOf(file, what),
  };
}

function fileOf(record: AvroRecord, what: string): DataFile {
  // Format version 1 knows no other content.
  const content = CONTENTS[typeof record['f134'] === 'number' ? record['f134'] : 0];
  const [location, format] = [record['f100'], record['f101']];
  const [recordCount, size] = [bigintOf(record['f103']), bigintOf(record['f104'])];
  if (
    content === undefined ||
    typeof location !== 'string' ||
    typeof format !== 'string' ||
    recordCount === undefined ||
    size === undefined
  )
    throw unsupported(`a file in ${what} lacks what every file must have`);
  return { content, location, format: format.toUpperCase(), recordCount, size };
}

export const isRecord = (value: unknown): value is AvroRecord => typeof value === 'object' && value !== null;
export const bigintOf = (value: unknown): bigint | undefined => (typeof value === 'bigint' ? value : undefined);

function entryRecord(file: WrittenFile): AvroRecord {
  const { statistics } = file;
  const counts = (count: (column: ColumnStatistics) => bigint | Buffer | undefined, key: number) =>
    statistics.flatMap((column) => {
      const value = count(column);
      return value === undefined ? [] : [{ [`f${key}`]: column.fieldId, [`f${key + 1}`]: value }];
    });
  return {
    f0: STATUSES.indexOf('added'),
    f1: null,
    f3: null,
    f4: null,
    f2: {
      f134: CONTENTS.indexOf(file.content),
      f100: file.location,
      f101: file.format,
      f102: file.partition.record,
      f103: file.recordCount,
      f104: file.size,
      f109: counts(({ values }) => values, 119),
      f110: counts(({ nulls }) => nulls, 121),
      f137: counts(({ nans }) => nans, 138),
      f125: counts(({ lower }) => lower, 126),
      f128: counts(({ upper }) => upper, 129),
      f132: [...file.splitOffsets],
      f140: 0,
    },
  };
}

const field = (id: number, name: string, type: Json): PlainObject => ({ name, type, 'field-id': id });
export const optional = (id: number, name: string, type: Json): PlainObject => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
});
export const required = field;

/** Avro has no maps with keys other than text: they are lists of pairs. */
function mapOf(key: number, value: number, valueType: Json): Json {
  const fields = [field(key, 'key', 'int'), field(value, 'value', valueType)];
  return { type: 'array', items: { type: 'record', name: `k${key}_v${value}`, fields }, logicalType: 'map' };
}

function manifestSchema(partition: Json): PlainObject {
  const dataFile = {
    type: 'record',
    name: 'r2',
    fields: [
      field(134, 'content', 'int'),
      field(100, 'file_path', 'string'),
      field(101, 'file_format', 'string'),
      field(102, 'partition', partition),
      field(103, 'record_count', 'long'),
      field(104, 'file_size_in_bytes', 'long'),
      optional(109, 'value_counts', mapOf(119, 120, 'long')),
      optional(110, 'null_value_counts', mapOf(121, 122, 'long')),
      optional(137, 'nan_value_counts', mapOf(138, 139, 'long')),
      optional(125, 'lower_bounds', mapOf(126, 127, 'bytes')),
      optional(128, 'upper_bounds', mapOf(129, 130, 'bytes')),
      optional(132, 'split_offsets', { type: 'array', items: 'long', 'element-id': 133 }),
      optional(140, 'sort_order_id', 'int'),
    ],
  };
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field(0, 'status', 'int'),
      optional(1, 'snapshot_id', 'long'),
      optional(3, 'sequence_number', 'long'),
      optional(4, 'file_sequence_number', 'long'),
      field(2, 'data_file', dataFile),
    ],
  };
}
