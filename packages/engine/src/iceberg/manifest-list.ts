/** Manifest lists: the one file that says what a snapshot is made of. */
import type { PlainObject } from '../json/index.ts';
import { type AvroRecord, decodeAvro, encodeAvro } from './avro-file.ts';
import { bigintOf, optional, required } from './manifest.ts';
import { unsupported } from './trouble.ts';

export interface ManifestListEntry {
  readonly location: string;
  readonly size: bigint;
  readonly specId: number;
  readonly content: 'data' | 'deletes';
  /** Of the snapshot that added the manifest. 0 if that was in format version 1. */
  readonly sequenceNumber: bigint;
  /** The smallest of the files that are still in it. */
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint;
  readonly addedFiles: number;
  readonly existingFiles: number;
  readonly deletedFiles: number;
  readonly addedRows: bigint;
  readonly existingRows: bigint;
  readonly deletedRows: bigint;
  /** What partitions the files are of, and keys to decrypt them: handed on as they came. */
  readonly partitions: unknown;
  readonly keyMetadata: unknown;
}

const CONTENTS = ['data', 'deletes'] as const;

export interface ListedSnapshot {
  readonly id: bigint;
  readonly parentId: bigint | undefined;
  readonly sequenceNumber: bigint;
}

export function encodeManifestList(entries: readonly ManifestListEntry[], snapshot: ListedSnapshot): Buffer {
  const metadata = new Map([
    ['snapshot-id', String(snapshot.id)],
    ['parent-snapshot-id', snapshot.parentId === undefined ? 'null' : String(snapshot.parentId)],
    ['sequence-number', String(snapshot.sequenceNumber)],
    ['format-version', '2'],
  ]);
  return encodeAvro(MANIFEST_FILE, metadata, entries.map(recordOf));
}

export function decodeManifestList(bytes: Buffer, location: string): readonly ManifestListEntry[] {
  const what = `manifest list ${location}`;
  return decodeAvro(bytes, what).records.map((record) => entryOf(record, what));
}

function recordOf(entry: ManifestListEntry): AvroRecord {
  return {
    f500: entry.location,
    f501: entry.size,
    f502: entry.specId,
    f517: CONTENTS.indexOf(entry.content),
    f515: entry.sequenceNumber,
    f516: entry.minSequenceNumber,
    f503: entry.addedSnapshotId,
    f504: entry.addedFiles,
    f505: entry.existingFiles,
    f506: entry.deletedFiles,
    f512: entry.addedRows,
    f513: entry.existingRows,
    f514: entry.deletedRows,
    f507: entry.partitions ?? null,
    f519: entry.keyMetadata ?? null,
  };
}

function entryOf(record: AvroRecord, what: string): ManifestListEntry {
  const content = CONTENTS[numberOf(record['f517'])];
  const [location, size] = [record['f500'], bigintOf(record['f501'])];
  if (content === undefined || typeof location !== 'string' || size === undefined)
    throw unsupported(`an entry of ${what} lacks what every manifest must have`);
  return {
    location,
    size,
    specId: numberOf(record['f502']),
    content,
    sequenceNumber: bigintOf(record['f515']) ?? 0n,
    minSequenceNumber: bigintOf(record['f516']) ?? 0n,
    addedSnapshotId: bigintOf(record['f503']) ?? 0n,
    addedFiles: numberOf(record['f504']),
    existingFiles: numberOf(record['f505']),
    deletedFiles: numberOf(record['f506']),
    addedRows: bigintOf(record['f512']) ?? 0n,
    existingRows: bigintOf(record['f513']) ?? 0n,
    deletedRows: bigintOf(record['f514']) ?? 0n,
    partitions: record['f507'] ?? null,
    keyMetadata: record['f519'] ?? null,
  };
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

const FIELD_SUMMARY: PlainObject = {
  type: 'record',
  name: 'r508',
  fields: [
    required(509, 'contains_null', 'boolean'),
    optional(518, 'contains_nan', 'boolean'),
    optional(510, 'lower_bound', 'bytes'),
    optional(511, 'upper_bound', 'bytes'),
  ],
};

const MANIFEST_FILE: PlainObject = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    required(500, 'manifest_path', 'string'),
    required(501, 'manifest_length', 'long'),
    required(502, 'partition_spec_id', 'int'),
    required(517, 'content', 'int'),
    required(515, 'sequence_number', 'long'),
    required(516, 'min_sequence_number', 'long'),
    required(503, 'added_snapshot_id', 'long'),
    required(504, 'added_files_count', 'int'),
    required(505, 'existing_files_count', 'int'),
    required(506, 'deleted_files_count', 'int'),
    required(512, 'added_rows_count', 'long'),
    required(513, 'existing_rows_count', 'long'),
    required(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', { type: 'array', items: FIELD_SUMMARY, 'element-id': 508 }),
    optional(519, 'key_metadata', 'bytes'),
  ],
};
