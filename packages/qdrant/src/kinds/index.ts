export { type BackupStatus, type CurrentBackup, type Leftover, QdrantCollectionBackup } from './backup.ts';
export { type ClusterSpec, LONGEST_NAME, QdrantCluster } from './cluster.ts';
export { type CollectionSpec, QdrantCollection } from './collection.ts';
export { QdrantCollectionRestore } from './restore.ts';
export { QdrantCollectionTemplate } from './template.ts';

import { QdrantCollectionBackup } from './backup.ts';
import { QdrantCluster } from './cluster.ts';
import { QdrantCollection } from './collection.ts';
import { QdrantCollectionRestore } from './restore.ts';
import { QdrantCollectionTemplate } from './template.ts';

export const kinds = [
  QdrantCluster,
  QdrantCollection,
  QdrantCollectionBackup,
  QdrantCollectionRestore,
  QdrantCollectionTemplate,
] as const;
