import { expect, test } from 'vitest';
import type { ManifestEntry } from './manifest.ts';
import type { ManifestListEntry } from './manifest-list.ts';
import { dataFilesAfter, manifestsAfter } from './scan.ts';

const manifest = (sequenceNumber: bigint, more: Partial<ManifestListEntry> = {}): ManifestListEntry => ({
  location: `m${sequenceNumber}`,
  size: 1n,
  specId: 0,
  content: 'data',
  sequenceNumber,
  minSequenceNumber: 1n,
  addedSnapshotId: 1n,
  addedFiles: 1,
  existingFiles: 0,
  deletedFiles: 0,
  addedRows: 1n,
  existingRows: 0n,
  deletedRows: 0n,
  partitions: null,
  keyMetadata: null,
  ...more,
});

const entry = (location: string, more: Partial<ManifestEntry> = {}): ManifestEntry => ({
  status: 'added',
  snapshotId: undefined,
  fileSequenceNumber: undefined,
  file: { content: 'data', location, format: 'PARQUET', recordCount: 1n, size: 1n },
  ...more,
});

const namesAfter = (manifests: readonly ManifestListEntry[], after: bigint) =>
  manifestsAfter(manifests, after, 'the table').map(({ location }) => location);

test('the oldest manifest comes first, and one of which nothing is left not at all', () => {
  const manifests = [manifest(9n), manifest(2n), manifest(5n, { addedFiles: 0, deletedFiles: 3 })];
  expect(namesAfter(manifests, 0n)).toEqual(['m2', 'm9']);
  expect(namesAfter(manifests, 2n)).toEqual(['m9']);
});

test('of a manifest that was merged of others, only the files that are newer are new', () => {
  const entries = [
    entry('inherited'),
    entry('old', { status: 'existing', fileSequenceNumber: 3n }),
    entry('newer', { status: 'existing', fileSequenceNumber: 6n }),
    entry('gone', { status: 'deleted', fileSequenceNumber: 7n }),
  ];
  const after = (sequence: bigint) => dataFilesAfter(entries, manifest(7n), sequence).map(({ location }) => location);
  expect(after(5n)).toEqual(['inherited', 'newer']);
  expect(after(0n)).toEqual(['inherited', 'old', 'newer']);
});

test('rows that delete files take away are not handed out: the table is refused', () => {
  const deletes = manifest(4n, { content: 'deletes' });
  expect(() => namesAfter([manifest(1n), deletes], 0n)).toThrow(
    'the table has delete files, which are not applied here',
  );
  // Those that are older than what is read concern what was read before.
  expect(namesAfter([manifest(5n), deletes], 4n)).toEqual(['m5']);
  expect(namesAfter([manifest(1n), manifest(4n, { content: 'deletes', addedFiles: 0, deletedFiles: 1 })], 0n)).toEqual([
    'm1',
  ]);
});
