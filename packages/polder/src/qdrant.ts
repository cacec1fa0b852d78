/** The Qdrant operator as a product of this program. */
import { randomInt } from 'node:crypto';
import {
  DEFAULTS,
  downloadOverHttp,
  QdrantCluster,
  QdrantCollectionBackup,
  QdrantCollectionRestore,
  qdrant,
  sendOverHttp,
} from '@polder/qdrant';
import { sendOverHttp as sendToStorage } from '@polder/s3';
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
  // Those of collections and templates are left out: nothing acts on them. Backups wait for restores.
  kinds: [QdrantCluster, QdrantCollectionBackup, QdrantCollectionRestore],
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
    return qdrant({
      settings,
      send: sendOverHttp(resolve),
      download: downloadOverHttp(resolve),
      storage: sendToStorage(resolve),
      clock,
      newKey,
    }).controllers;
  },
};

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const newKey = () => Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
