import { expect, test } from 'vitest';
import { type AvroRecord, decodeAvro, encodeAvro } from './avro-file.ts';
import { decodeManifest, encodeManifest, type WrittenFile } from './manifest.ts';
import { decodeManifestList, encodeManifestList, type ManifestListEntry } from './manifest-list.ts';
import { partitionerOf } from './partition.ts';
import type { Schema } from './types.ts';

const schema: Schema = {
  id: 3,
  fields: [
    { id: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
    { id: 2, name: 'price', isRequired: false, type: { kind: 'decimal', precision: 20, scale: 2 } },
    { id: 5, name: 'token', isRequired: false, type: { kind: 'uuid' } },
  ],
};
const spec = {
  id: 2,
  fields: [
    { sourceId: 1, id: 1000, name: 'id_bucket', transform: 'bucket[4]' },
    { sourceId: 2, id: 1001, name: 'price-of it', transform: 'identity' },
    { sourceId: 5, id: 1002, name: '5', transform: 'identity' },
  ],
};

const file: WrittenFile = {
  content: 'data',
  location: 's3://lake/t/data/a.parquet',
  format: 'PARQUET',
  recordCount: 9_007_199_254_740_993n,
  size: 4711n,
  partition: partitionerOf(spec, schema)([34n, -129n, Buffer.alloc(16, 7)]),
  statistics: [
    { fieldId: 1, values: 3n, nulls: 0n, nans: undefined, lower: Buffer.from([1]), upper: Buffer.from([9]) },
    { fieldId: 2, values: 3n, nulls: 1n, nans: undefined, lower: undefined, upper: undefined },
  ],
  splitOffsets: [4n],
};

test('a manifest tells what was put into it, by field ids alone', () => {
  const bytes = encodeManifest([file], schema, spec);
  const { content, location, format, recordCount, size } = file;
  expect(decodeManifest(bytes, 'm')).toEqual([
    {
      status: 'added',
      snapshotId: undefined,
      fileSequenceNumber: undefined,
      file: { content, location, format, recordCount, size },
    },
  ]);
  const { metadata, records } = decodeAvro(bytes, 'm');
  expect(Object.fromEntries(metadata)).toMatchObject({
    'schema-id': '3',
    'partition-spec-id': '2',
    'format-version': '2',
    content: 'data',
    'partition-spec': JSON.stringify(
      spec.fields.map(({ sourceId, id, name, transform }) => ({
        'source-id': sourceId,
        'field-id': id,
        name,
        transform,
      })),
    ),
  });
  const header: { fields: { name: string; 'field-id': number }[] } = JSON.parse(metadata.get('avro.schema') ?? '');
  expect(header.fields.map((one) => [one.name, one['field-id']])).toEqual([
    ['status', 0],
    ['snapshot_id', 1],
    ['sequence_number', 3],
    ['file_sequence_number', 4],
    ['data_file', 2],
  ]);
  expect(records[0]?.['f2']).toMatchObject({
    f102: { f1000: 3, f1001: Buffer.from('ffffffffffffffff7f', 'hex'), f1002: Buffer.alloc(16, 7) },
    f110: [
      { f121: 1, f122: 0n },
      { f121: 2, f122: 1n },
    ],
    f125: [{ f126: 1, f127: Buffer.from([1]) }],
  });
});

const entry: ManifestListEntry = {
  location: 's3://lake/t/metadata/m.avro',
  size: 99n,
  specId: 2,
  content: 'deletes',
  sequenceNumber: 2n ** 60n + 1n,
  minSequenceNumber: 1n,
  addedSnapshotId: 6_076_682_766_480_940_483n,
  addedFiles: 1,
  existingFiles: 2,
  deletedFiles: 3,
  addedRows: 4n,
  existingRows: 5n,
  deletedRows: 6n,
  partitions: [{ f509: true, f518: null, f510: Buffer.from('a'), f511: null }],
  keyMetadata: Buffer.from('key'),
};

test('the manifests of others are handed on whole, with ids of 64 bits', () => {
  const snapshot = { id: 1n, parentId: 2n, sequenceNumber: 3n };
  expect(decodeManifestList(encodeManifestList([entry, entry], snapshot), 'l')).toEqual([entry, entry]);
  expect(decodeManifestList(encodeManifestList([], snapshot), 'l')).toEqual([]);
});

test('a list of format version 1, whose fields are called otherwise, is read', () => {
  const field = (id: number, name: string, type: string) => ({ name, type, 'field-id': id });
  const fields = [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(504, 'added_data_files_count', 'int'),
  ];
  const old: AvroRecord = { f500: 's3://a/b', f501: 7n, f502: 0, f504: 3 };
  const bytes = encodeAvro({ type: 'record', name: 'manifest_file', fields }, new Map(), [old]);
  expect(decodeManifestList(bytes, 'l')).toMatchObject([
    { location: 's3://a/b', size: 7n, content: 'data', sequenceNumber: 0n, addedFiles: 3 },
  ]);
});

test('what is no manifest, or only a part of one, is named', () => {
  expect(() => decodeManifest(Buffer.from('{}'), 'here')).toThrow("manifest here can't be read: it is no Avro file");
  const bytes = encodeManifest([file], schema, spec);
  for (const cut of [20, bytes.length - 20]) {
    expect(() => decodeManifest(bytes.subarray(0, cut), 'here')).toThrow("manifest here can't be read");
  }
});
