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
import { qdrantIntervals } from './intervals.ts';
import type { BuiltInProduct, ServerSurroundings } from './products.ts';

export const qdrantProduct: BuiltInProduct = {
  name: 'qdrant',
  kinds,
  fieldManager: 'qdrant-operator',
  lease: 'qdrant-operator',
  intervals: qdrantIntervals,
  controllers({ clock, intervals: durations, resolve }) {
    const { periodicMs, progressMs, readTimeoutMs, writeTimeoutMs } = DEFAULTS.intervals;
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
    const timeoutMs = durations['apiTimeout'] ?? qdrantIntervals.apiTimeout.default;
    const app = qdrantApi({ client, token, clock, log, namespaces, timeoutMs });
    const bindAddress = apiAddressIn(env);
    const certificateDirectory = env['API_CERT_DIR']?.trim() || undefined;
    if (certificateDirectory === undefined && !isLoopback(bindAddress)) {
      const { host } = bindAddress;
      log.warn(
        { host },
        `the Qdrant API on ${host} is in clear text, and so is its token: name a folder with tls.crt and tls.key in API_CERT_DIR, or put something before it that speaks TLS`,
      );
    }
    return [{ name: 'the Qdrant API', app, bindAddress, certificateDirectory }];
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

const isLoopback = ({ host }: BindAddress): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const newKey = () => Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
