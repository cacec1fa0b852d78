import type { FoundSet } from '../archive/index.ts';
import type { CurrentBackup, Leftover, QdrantCluster, QdrantCollectionBackup } from '../kinds/index.ts';
import type { ShardSeen } from './sight.ts';

/** What is done for backups. None of it carries a key: those are read when they are used. */
export type BackupStep =
  /** From the peer of a pod, which snapshots it first, into the bucket. */
  | {
      readonly do: 'copy-shard';
      readonly because: string;
      readonly backup: QdrantCollectionBackup;
      readonly current: CurrentBackup;
      readonly cluster: QdrantCluster;
      readonly shard: number;
      /** Those that have a live copy: the first is asked. */
      readonly from: readonly string[];
    }
  /** Makes a backup of files. */
  | {
      readonly do: 'write-manifest';
      readonly because: string;
      readonly backup: QdrantCollectionBackup;
      readonly current: CurrentBackup;
      readonly cluster: QdrantCluster;
      readonly shards: readonly Pick<ShardSeen, 'id' | 'key'>[];
      readonly pod: string;
    }
  | {
      readonly do: 'remove-set';
      readonly because: string;
      readonly backup: QdrantCollectionBackup;
      readonly set: FoundSet;
    }
  /** A snapshot on the disk of a peer, which somebody left there who died. */
  | {
      readonly do: 'clear-leftover';
      readonly because: string;
      readonly backup: QdrantCollectionBackup;
      readonly cluster: QdrantCluster;
      readonly leftover: Leftover;
    };
