/**
 * The Qdrant operator. A QdrantCluster declares peers of a vector database; for each, a cluster is formed and changed while
 * it runs, so that no shard loses its last copy. A QdrantCollection declares a collection in one: it is made, and kept as it
 * is declared.
 */
import { type Clock, type Product, register } from '@polder/kube';
import type { Send as SendToStorage } from '@polder/s3';
import type { Download, Send } from './api/index.ts';
import { backups } from './backup/controller.ts';
import { clusters } from './cluster/controller.ts';
import { collections } from './collection/controller.ts';
import type { Settings } from './settings.ts';
import { templates } from './template/controller.ts';

export { type Download, downloadOverHttp, type Send, sendOverHttp } from './api/index.ts';
export { kinds, QdrantCluster } from './kinds/index.ts';
export { QdrantMetrics } from './metrics.ts';
export { type ApiOptions, qdrantApi } from './rest/index.ts';
export { DEFAULTS, type Intervals, type Settings } from './settings.ts';
export { type KindWebhook, webhooks } from './webhooks.ts';

export interface QdrantOptions {
  readonly settings: Settings;
  /** The way to the peers. */
  readonly send: Send;
  /** The same for what is too large to be kept: snapshots. */
  readonly download: Download;
  /** The way to the storages of backups. */
  readonly storage: SendToStorage;
  readonly clock: Clock;
  /** 32 characters that nobody can guess. */
  readonly newKey: () => string;
  /** The namespace of the lease. Without it this process always leads: then it must be the only one. */
  readonly leaseNamespace?: string | undefined;
}

/** The product, for a `Manager`. */
export function qdrant(options: QdrantOptions): Product {
  const { settings, send, download, storage, clock, newKey, leaseNamespace } = options;
  const { readTimeoutMs, writeTimeoutMs } = settings.intervals;
  const peers = { send, clock, readTimeoutMs, writeTimeoutMs };
  return {
    name: 'qdrant',
    fieldManager: 'qdrant-operator',
    lease: leaseNamespace === undefined ? undefined : { namespace: leaseNamespace, name: 'qdrant-operator' },
    controllers: [
      register(clusters(settings), (base) => ({ ...base, peers, newKey })),
      register(collections(settings), (base) => ({ ...base, peers })),
      register(templates()),
      register(backups(settings), (base) => ({ ...base, peers: { ...peers, download }, storage })),
    ],
  };
}
