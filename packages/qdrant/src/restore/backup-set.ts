/** What lies in a bucket under the name of a backup, and whether it is all of one. */
import {
  type BackupName,
  backupNamed,
  type Manifest,
  manifestKey,
  manifestOf,
  ordinalOfUpstreamFile,
} from '../archive/index.ts';
import type { RestorePart } from '../kinds/index.ts';

export type BackupSet =
  | { readonly is: 'ours'; readonly manifest: Manifest; readonly parts: readonly RestorePart[] }
  /** One file for each peer, and nothing that says what is in it. */
  | { readonly is: 'upstream'; readonly parts: readonly RestorePart[] }
  /** It will not become one by waiting. */
  | { readonly is: 'unusable'; readonly because: string };

export interface FileFound {
  readonly key: string;
  readonly bytes: number;
}

/** Pure: what the files under an id are, given the text of the manifest among them. */
export function setOf(id: string, found: readonly FileFound[], manifest: string | undefined): BackupSet {
  const name = backupNamed(id);
  if (!name) return unusable(`${id} names no backup; it has to look like cluster/collection/2024-01-21-23-38`);
  const files = new Map(found.map(({ key, bytes }) => [key.slice(id.length + 1), bytes]));
  if (files.size === 0) return unusable(`there is no backup ${id} in the bucket`);
  return manifest === undefined ? upstreamSet(id, name, files) : ourSet(id, files, manifest);
}

type Files = ReadonlyMap<string, number>;

function ourSet(id: string, files: Files, text: string): BackupSet {
  const manifest = manifestOf(text);
  if (!manifest) return unusable(`${manifestKey(id)} is no manifest that this version can read`);
  if (manifest.id !== id) return unusable(`${manifestKey(id)} is that of ${manifest.id}`);
  const shards = manifest.shards.toSorted((a, b) => a.id - b.id);
  if (new Set(shards.map((one) => one.id)).size !== shards.length || shards.length === 0)
    return unusable(`${manifestKey(id)} does not name each shard once`);
  const isCustomSharded = manifest.config['sharding_method'] === 'custom';
  if (!isCustomSharded && shards.length !== manifest.shardNumber)
    return unusable(`${manifestKey(id)} has ${shards.length} of ${manifest.shardNumber} shards`);
  for (const { file, bytes } of shards) {
    const has = files.get(file);
    if (has === undefined) return unusable(`${id}/${file} is missing in the bucket`);
    if (has !== bytes) return unusable(`${id}/${file} has ${has} bytes, and ${bytes} in the manifest`);
  }
  const parts = shards.map(({ id: shard, file, bytes, sha256 }) => ({ file, shard, bytes, sha256, state: FOUND }));
  return { is: 'ours', manifest, parts };
}

function upstreamSet(id: string, name: BackupName, files: Files): BackupSet {
  const parts = [...files]
    .flatMap(([file, bytes]) => {
      const ordinal = ordinalOfUpstreamFile(name, file);
      return ordinal === undefined ? [] : [{ file, ordinal, bytes, state: FOUND }];
    })
    .toSorted((a, b) => a.ordinal - b.ordinal);
  if (parts.length === 0) return unusable(`${id} has no manifest.json: the backup was not completed`);
  const gap = parts.findIndex(({ ordinal }, at) => ordinal !== at);
  if (gap >= 0) return unusable(`${id}/${name.cluster}-${gap}.snapshot is missing in the bucket`);
  return { is: 'upstream', parts };
}

const FOUND = 'Found' as const;

const unusable = (because: string): BackupSet => ({ is: 'unusable', because });

/** Whether a backup still has the files that were found in it: in the same order, of the same size, with the same sums. */
export const hasStayed = (parts: readonly RestorePart[], recorded: readonly RestorePart[]): boolean =>
  parts.length === recorded.length &&
  parts.every((part, at) => {
    const before = recorded[at];
    return (
      before?.file === part.file &&
      before.bytes === part.bytes &&
      (part.sha256 === undefined || part.sha256 === before.sha256)
    );
  });
