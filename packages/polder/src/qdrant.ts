/** The Qdrant operator as a product of this program. */
import { randomInt } from 'node:crypto';
import { DEFAULTS, QdrantCluster, QdrantMetrics, qdrant, sendOverHttp, webhooks } from '@polder/qdrant';
import type { BuiltInProduct } from './products.ts';

const { periodicMs, progressMs, readTimeoutMs, writeTimeoutMs } = DEFAULTS.intervals;

const intervals = {
  periodicReconcile: {
    default: periodicMs,
    comment: 'How often a cluster is looked at whether or not anything happened.',
  },
  progressInterval: {
    default: progressMs,
    comment: 'How soon a cluster is looked at again while something is under way that no event tells of.',
  },
  readTimeout: { default: readTimeoutMs, comment: 'How long a peer may take to answer a question.' },
  writeTimeout: {
    default: writeTimeoutMs,
    comment: 'How long a peer may take to do what it is told: others have to agree first. At least 3s.',
  },
};

export const qdrantProduct: BuiltInProduct = {
  name: 'qdrant',
  // Those of collections, backups, restores and templates are left out: nothing acts on them.
  kinds: [QdrantCluster],
  fieldManager: 'qdrant-operator',
  lease: 'qdrant-operator',
  intervals,
  controllers({ clock, intervals: durations, resolve }) {
    const settings = {
      ...DEFAULTS,
      intervals: {
        periodicMs: durations['periodicReconcile'] ?? periodicMs,
        progressMs: durations['progressInterval'] ?? progressMs,
        readTimeoutMs: durations['readTimeout'] ?? readTimeoutMs,
        writeTimeoutMs: durations['writeTimeout'] ?? writeTimeoutMs,
      },
    };
    return qdrant({ settings, send: sendOverHttp(resolve), clock, newKey }).controllers;
  },
  webhooks: (cached) =>
    webhooks(cached).map(({ kind, webhook }) => {
      const name = kind.kind.toLowerCase();
      const path = `/validate-${kind.group.replaceAll('.', '-')}-${kind.version}-${name}`;
      return { name: `v${name}.${kind.group}`, path, kind, webhook };
    }),
  metrics: (meters, controllers) => new QdrantMetrics(meters, controllers),
  gauges: (cached) => [
    {
      name: 'qdrant_operator_cluster_status',
      help: '1 for the status that a QdrantCluster has, 0 for the others',
      samples: cached
        .list(QdrantCluster)
        .flatMap(({ metadata: { namespace = '', name }, status: { qdrantStatus } = {} }) =>
          STATUSES.map((status) => ({ labels: { namespace, name, status }, value: qdrantStatus === status ? 1 : 0 })),
        ),
    },
  ],
};

const STATUSES = ['Pending', 'OperationInProgress', 'Healthy', 'Running', 'Error'];

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const newKey = () => Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
