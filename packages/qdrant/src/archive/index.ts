/** What a backup consists of, and where it lies: agreed between those who make backups and those who restore them. */
export {
  type BackupName,
  backupId,
  backupNamed,
  manifestKey,
  ordinalOfUpstreamFile,
  prefixOf,
  shardFile,
  timeOf,
} from './layout.ts';
export { type Manifest, manifestOf, type ShardFile } from './manifest.ts';
export { completeSet, type FileFound, type FoundSet, keysOf, setsIn } from './sets.ts';
