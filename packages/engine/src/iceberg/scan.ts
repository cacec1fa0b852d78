/** Which data files are to be read. */
import type { DataFile, ManifestEntry } from './manifest.ts';
import type { ManifestListEntry } from './manifest-list.ts';
import { unsupported } from './trouble.ts';

/** The manifests that may have something newer than `after` (0: everything), oldest first. */
export function manifestsAfter(
  manifests: readonly ManifestListEntry[],
  after: bigint,
  what: string,
): readonly ManifestListEntry[] {
  const wanted = manifests.filter((manifest) => {
    const isAlive = manifest.addedFiles + manifest.existingFiles > 0;
    return isAlive && (after === 0n || manifest.sequenceNumber > after);
  });
  if (wanted.some(({ content }) => content === 'deletes'))
    throw unsupported(
      `${what} has delete files, which are not applied here: compact the table (rewrite_data_files, or optimize in Trino), then read it`,
    );
  return wanted.toSorted((a, b) =>
    a.sequenceNumber < b.sequenceNumber ? -1 : a.sequenceNumber > b.sequenceNumber ? 1 : 0,
  );
}

/** The files of a manifest that are part of the table, and were added after that change of it. */
export function dataFilesAfter(
  entries: readonly ManifestEntry[],
  manifest: ManifestListEntry,
  after: bigint,
): readonly DataFile[] {
  return entries.flatMap(({ status, fileSequenceNumber, file }) => {
    if (status === 'deleted') return [];
    return after === 0n || (fileSequenceNumber ?? manifest.sequenceNumber) > after ? [file] : [];
  });
}
