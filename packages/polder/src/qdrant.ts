/** The Qdrant operator as a product of this program. */
import { randomInt } from 'node:crypto';
import {
  DEFAULTS,
  downloadOverHttp,
  kinds,
  QdrantCluster,
  QdrantMetrics,
  qdrant,
  qdrantApi,
  sendOverHttp,
  webhooks,
} from '@polder/qdrant';
import { sendOverHttp as sendToStorage } from '@polder/s3';
import { type BindAddress, bindAddressOf } from './bind-address.ts';
import type { BuiltInProduct, ServerSurroundings } from './products.ts';

const { periodicMs, progressMs, readTimeoutMs, writeTimeoutMs } = DEFAULTS.intervals;

const API_TIMEOUT_MS = 10_000;

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
  apiTimeout: {
    default: API_TIMEOUT_MS,
    comment: 'How long a call of the Qdrant API (--api-bind-address) waits for the API server.',
  },
};

export const qdrantProduct: BuiltInProduct = {
  name: 'qdrant',
  kinds,
  fieldManager: 'qdrant-operator',
  lease: 'qdrant-operator',
  intervals,
  controllers({ clock, intervals: durations, resolve }) {
    const settings = {
      ...DEFAULTS,
      intervals: {
        ...DEFAULTS.intervals,
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
  servers(surroundings) {
    const { client, clock, env, log, intervals: durations, namespaces } = surroundings;
    const token = TOKENS.map((name) => env[name]?.trim() ?? '').find((one) => one !== '');
    if (token === undefined) {
      log.info({}, 'the Qdrant API is not served: set API_TOKEN to a token that its callers have to know');
      return [];
    }
    const timeoutMs = durations['apiTimeout'] ?? API_TIMEOUT_MS;
    const app = qdrantApi({ client, token, clock, log, namespaces, timeoutMs });
    return [{ name: 'the Qdrant API', app, bindAddress: apiAddressIn(env) }];
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

/** As upstream calls them. */
const TOKENS = ['API_TOKEN', 'QDRANT_OPERATOR_API_TOKEN'];

/** By our flag, or by upstream's variable, which is a port. */
function apiAddressIn({ API_BIND_ADDRESS = '', API_PORT = '' }: ServerSurroundings['env']): BindAddress {
  const text = API_BIND_ADDRESS.trim();
  // Where a Service is called `api`, Kubernetes sets the variable for all pods beside it, to something else: tcp://10.0.0.1:80.
  const port = API_PORT.startsWith('tcp://') ? '' : API_PORT.trim();
  const address = bindAddressOf(text || `:${port || '8081'}`);
  if (address) return address;
  const rule = text
    ? `API_BIND_ADDRESS is ${text}; an address is host:port or :port`
    : `API_PORT is ${API_PORT}; a port is a whole number up to 65535`;
  throw new Error(rule);
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const newKey = () => Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
