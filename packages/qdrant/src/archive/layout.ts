/**
 * Where backups lie in a bucket. A backup is named by what its keys begin with: `cluster/collection/2024-01-21-23-38`, which
 * is also how upstream names those that it made; its own lie beside ours and can be restored.
 */
export interface BackupName {
  readonly cluster: string;
  readonly collection: string;
  /** To the minute, UTC: `2024-01-21-23-38`. */
  readonly time: string;
}

export const backupId = ({ cluster, collection, time }: BackupName): string =>
  [cluster, collection, time].map(encodeURIComponent).join('/');

export function backupNamed(id: string): BackupName | undefined {
  const [, cluster, collection, time] = /^([^/]+)\/([^/]+)\/(\d{4}-\d\d-\d\d-\d\d-\d\d)$/.exec(id) ?? [];
  if (cluster === undefined || collection === undefined || time === undefined) return undefined;
  return { cluster: decodeURIComponent(cluster), collection: decodeURIComponent(collection), time };
}

export const timeOf = (now: Date): string => now.toISOString().slice(0, 16).replace(/[T:]/g, '-');

/** All backups of a collection. */
export const prefixOf = ({ cluster, collection }: Omit<BackupName, 'time'>): string =>
  `${[cluster, collection].map(encodeURIComponent).join('/')}/`;

export const manifestKey = (id: string): string => `${id}/manifest.json`;
export const shardFile = (shard: number): string => `shard-${shard}.snapshot`;

/** The ordinal of the peer whose file it is, in a backup that upstream made: one file for each peer, with all its shards. */
export function ordinalOfUpstreamFile({ cluster }: BackupName, file: string): number | undefined {
  const [, ordinal] = new RegExp(`^${RegExp.escape(cluster)}-(\\d+)\\.snapshot$`).exec(file) ?? [];
  return ordinal === undefined ? undefined : Number(ordinal);
}
