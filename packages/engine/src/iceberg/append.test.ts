import { expect, test } from 'vitest';
import { ExactNumber } from '../json/index.ts';
import { type Appended, assertAppendable, planAppend } from './append.ts';
import type { ManifestListEntry } from './manifest-list.ts';
import type { TableMetadata } from './metadata.ts';

const table: TableMetadata = {
  formatVersion: 2,
  uuid: 'the-table',
  location: 's3://lake/t',
  lastSequenceNumber: 7n,
  schema: { id: 3, fields: [] },
  partitionSpec: { id: 1, fields: [] },
  snapshot: {
    id: 6_076_682_766_480_940_483n,
    sequenceNumber: 7n,
    operation: 'append',
    manifestList: 's3://lake/t/metadata/old.avro',
    summary: new Map([
      ['total-records', '100'],
      ['total-data-files', '9007199254740993'],
    ]),
  },
  lastColumnId: 2,
};

const file = (recordCount: bigint, size: bigint) =>
  ({
    content: 'data',
    location: 's3://lake/t/data/a.parquet',
    format: 'PARQUET',
    recordCount,
    size,
    partition: { key: '', record: {} },
    statistics: [],
    splitOffsets: [],
  }) as const;

const added: Appended = {
  snapshotId: 42n,
  schemaId: 3,
  specId: 1,
  manifest: { location: 's3://lake/t/metadata/m.avro', size: 10n },
  files: [file(2n, 5n), file(3n, 6n)],
};
const at = { manifestList: 's3://lake/t/metadata/new.avro', now: 1_000 };
const old: ManifestListEntry = {
  location: 's3://lake/t/metadata/old-m.avro',
  size: 1n,
  specId: 0,
  content: 'data',
  sequenceNumber: 7n,
  minSequenceNumber: 1n,
  addedSnapshotId: 1n,
  addedFiles: 1,
  existingFiles: 0,
  deletedFiles: 0,
  addedRows: 100n,
  existingRows: 0n,
  deletedRows: 0n,
  partitions: null,
  keyMetadata: null,
};

test('a commit requires the very state that it was made for, with all digits of its id', () => {
  expect(planAppend(table, [old], added, at).requirements).toEqual([
    { type: 'assert-table-uuid', uuid: 'the-table' },
    { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 6_076_682_766_480_940_483n },
  ]);
  expect(planAppend({ ...table, snapshot: undefined }, [], added, at).requirements[1]).toMatchObject({
    'snapshot-id': null,
  });
});

test('a snapshot has all that was there, what is new, and the next number', () => {
  const { snapshot, manifests, updates } = planAppend(table, [old], added, at);
  expect(snapshot).toEqual({ id: 42n, parentId: 6_076_682_766_480_940_483n, sequenceNumber: 8n });
  expect(manifests).toMatchObject([
    {
      location: added.manifest.location,
      sequenceNumber: 8n,
      addedSnapshotId: 42n,
      addedFiles: 2,
      addedRows: 5n,
      specId: 1,
    },
    old,
  ]);
  expect(updates).toMatchObject([
    {
      action: 'add-snapshot',
      snapshot: {
        'snapshot-id': new ExactNumber('42'),
        'parent-snapshot-id': new ExactNumber('6076682766480940483'),
        'sequence-number': new ExactNumber('8'),
        'manifest-list': at.manifestList,
        'timestamp-ms': 1_000,
        'schema-id': 3,
      },
    },
    { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch' },
  ]);
});

test('totals are summed up exactly, and only where there was one to begin with', () => {
  const summaryOf = (metadata: TableMetadata) => {
    const [first] = planAppend(metadata, [], added, at).updates;
    return JSON.parse(JSON.stringify(first)).snapshot.summary;
  };
  expect(summaryOf(table)).toEqual({
    operation: 'append',
    'added-data-files': '2',
    'added-records': '5',
    'added-files-size': '11',
    'total-records': '105',
    'total-data-files': '9007199254740995',
  });
  expect(summaryOf({ ...table, snapshot: undefined })).toMatchObject({
    'total-records': '5',
    'total-delete-files': '0',
  });
});

test('only tables of format version 2 are written', () => {
  expect(() => assertAppendable({ ...table, formatVersion: 1 }, 'shop.t')).toThrow(
    'table shop.t has format version 1: only tables of version 2 can be written',
  );
});
