/** Planning an append: from what the table is and what is to be added, to what the catalog is told. Nothing here does I/O. */
import type { Json } from '../json/index.ts';
import { longJson, type Requirement } from './catalog.ts';
import type { WrittenFile } from './manifest.ts';
import type { ListedSnapshot, ManifestListEntry } from './manifest-list.ts';
import type { Snapshot, TableMetadata } from './metadata.ts';
import { unsupported } from './trouble.ts';

/** The branch within a table's own metadata. Nessie's branches are another thing: each has such a table. */
const MAIN = 'main';

/** What stays the same however often the commit has to be tried. */
export interface Appended {
  readonly snapshotId: bigint;
  readonly schemaId: number;
  readonly specId: number;
  readonly manifest: { readonly location: string; readonly size: bigint };
  readonly files: readonly WrittenFile[];
}

export interface AppendPlan {
  readonly snapshot: ListedSnapshot;
  /** All of the manifest list that the snapshot names. */
  readonly manifests: readonly ManifestListEntry[];
  readonly requirements: readonly Requirement[];
  readonly updates: readonly Json[];
}

export function assertAppendable({ formatVersion }: TableMetadata, name: string): void {
  if (formatVersion === 2) return;
  throw unsupported(`table ${name} has format version ${formatVersion}: only tables of version 2 can be written`);
}

/** `before`: the manifests of the table's current snapshot. */
export function planAppend(
  table: TableMetadata,
  before: readonly ManifestListEntry[],
  added: Appended,
  at: { readonly manifestList: string; readonly now: number },
): AppendPlan {
  const sequenceNumber = table.lastSequenceNumber + 1n;
  const parentId = table.snapshot?.id;
  const snapshot = { id: added.snapshotId, parentId, sequenceNumber };
  const updates: Json[] = [
    {
      action: 'add-snapshot',
      snapshot: {
        'snapshot-id': longJson(snapshot.id),
        ...(parentId !== undefined && { 'parent-snapshot-id': longJson(parentId) }),
        'sequence-number': longJson(sequenceNumber),
        'timestamp-ms': at.now,
        'manifest-list': at.manifestList,
        'schema-id': added.schemaId,
        summary: summaryOf(added.files, table.snapshot),
      },
    },
    { action: 'set-snapshot-ref', 'ref-name': MAIN, type: 'branch', 'snapshot-id': longJson(snapshot.id) },
  ];
  return {
    snapshot,
    manifests: [manifestEntry(added, sequenceNumber), ...before],
    requirements: [
      { type: 'assert-table-uuid', uuid: table.uuid },
      { type: 'assert-ref-snapshot-id', ref: MAIN, 'snapshot-id': parentId ?? null },
    ],
    updates,
  };
}

function manifestEntry({ snapshotId, specId, manifest, files }: Appended, sequenceNumber: bigint): ManifestListEntry {
  return {
    location: manifest.location,
    size: manifest.size,
    specId,
    content: 'data',
    sequenceNumber,
    minSequenceNumber: sequenceNumber,
    addedSnapshotId: snapshotId,
    addedFiles: files.length,
    existingFiles: 0,
    deletedFiles: 0,
    addedRows: sumOf(files, ({ recordCount }) => recordCount),
    existingRows: 0n,
    deletedRows: 0n,
    partitions: null,
    keyMetadata: null,
  };
}

/** Totals are carried on only from a snapshot that has them: half a sum is worse than none. */
function summaryOf(files: readonly WrittenFile[], before: Snapshot | undefined): Record<string, string> {
  const added = {
    'data-files': BigInt(files.length),
    records: sumOf(files, ({ recordCount }) => recordCount),
    'files-size': sumOf(files, ({ size }) => size),
    'delete-files': 0n,
    'position-deletes': 0n,
    'equality-deletes': 0n,
  };
  const summary: Record<string, string> = { operation: 'append' };
  for (const [name, count] of Object.entries(added)) {
    if (count > 0n) summary[`added-${name}`] = String(count);
    const total = before === undefined ? '0' : before.summary.get(`total-${name}`);
    if (total !== undefined && /^\d+$/.test(total)) summary[`total-${name}`] = String(BigInt(total) + count);
  }
  return summary;
}

const sumOf = <T>(all: readonly T[], of: (one: T) => bigint): bigint => all.reduce((sum, one) => sum + of(one), 0n);
