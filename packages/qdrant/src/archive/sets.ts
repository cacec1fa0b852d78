/** What lies under the backups of a collection: which files belong together, and whose they are. */
import { type BackupName, backupId, manifestKey, prefixOf } from './layout.ts';
import { type Manifest, manifestOf } from './manifest.ts';

export interface FileFound {
  readonly key: string;
  readonly bytes: number;
}

/** All files of one backup, by what their names say: nothing but a manifest and shards. */
export interface FoundSet {
  readonly id: string;
  /** When it was begun: milliseconds since the epoch. */
  readonly begunAt: number;
  readonly hasManifest: boolean;
  /** The sizes of the files of its shards, by their ids. */
  readonly shards: ReadonlyMap<number, number>;
}

/** Oldest first. A backup with any other file in it is not ours, as those of upstream are not: it is none of them. */
export function setsIn(name: Omit<BackupName, 'time'>, files: readonly FileFound[]): readonly FoundSet[] {
  const prefix = prefixOf(name);
  const sets = new Map<string, Map<string, number>>();
  for (const { key, bytes } of files) {
    const [, time, file] = /^(\d{4}-\d\d-\d\d-\d\d-\d\d)\/(.+)$/.exec(key.slice(prefix.length)) ?? [];
    if (!key.startsWith(prefix) || time === undefined || file === undefined) continue;
    sets.set(time, (sets.get(time) ?? new Map()).set(file, bytes));
  }
  return [...sets]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([time, found]) => {
      const set = setOf(backupId({ ...name, time }), time, found);
      return set ? [set] : [];
    });
}

const MANIFEST = 'manifest.json';

function setOf(id: string, time: string, files: ReadonlyMap<string, number>): FoundSet | undefined {
  const shards = new Map<number, number>();
  for (const [file, bytes] of files) {
    const [, shard] = /^shard-(0|[1-9]\d{0,9})\.snapshot$/.exec(file) ?? [];
    if (shard !== undefined) shards.set(Number(shard), bytes);
    else if (file !== MANIFEST) return undefined;
  }
  const begunAt = Date.parse(time.replace(/^(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)$/, '$1T$2:$3Z'));
  return Number.isNaN(begunAt) ? undefined : { id, begunAt, hasManifest: files.has(MANIFEST), shards };
}

/** The keys of a set in the order in which they are removed: once its manifest is gone, nobody takes the rest for whole. */
export const keysOf = ({ id, hasManifest, shards }: FoundSet, fileOf: (shard: number) => string): readonly string[] => [
  ...(hasManifest ? [manifestKey(id)] : []),
  ...[...shards.keys()].map((shard) => `${id}/${fileOf(shard)}`),
];

/** The manifest of a set that has all of what it names; undefined if it is not that, or somebody else's. */
export function completeSet(set: FoundSet, namespace: string, text: string): Manifest | undefined {
  const manifest = manifestOf(text);
  if (manifest?.id !== set.id || (manifest.namespace ?? namespace) !== namespace) return undefined;
  return manifest.shards.every(({ id, bytes }) => set.shards.get(id) === bytes) ? manifest : undefined;
}
