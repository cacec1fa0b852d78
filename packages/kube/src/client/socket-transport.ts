import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import send from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { messageOf } from '../log.ts';
import type { Access, ClusterConfig } from './config.ts';
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts';

const unzip = promisify(gunzip);

/** How many ordinary requests may be under way at once: our only client-side limit, the rest is the API server's fairness. */
const CONNECTIONS = 16;

/**
 * HTTP/1.1 over TLS, in two pools: long-lived answers get a connection each, so that one dead socket costs one watch
 * (Node's HTTP/2 keeps streams on a dead session), and they never take a connection from ordinary requests.
 */
export function socketTransport(config: ClusterConfig): Transport {
  const { origin, pathname } = new URL(config.server);
  const prefix = pathname.replace(/\/$/, '');
  const isLoopback = /^(127\.|\[::1\]|localhost$)/.test(new URL(config.server).hostname);
  let pools: Pools | undefined;

  /** Pools belong to one set of certificates; when those rotate, new ones are made and the old finish what they have. */
  const poolsFor = (access: Access): Pools => {
    if (pools && pools.ca === access.ca && pools.cert === access.cert && pools.key === access.key) return pools;
    const old = pools;
    pools = makePools(origin, config, access);
    void old?.short.close();
    void old?.long.close();
    return pools;
  };

  const sendTo = async (access: Access, request: TransportRequest): Promise<Dispatcher.ResponseData> => {
    const { short, long } = poolsFor(access);
    const { authorization } = access;
    return await send.call(request.longLived ? long : short, {
      method: request.method,
      path: prefix + request.path,
      headers: {
        ...request.headers,
        ...(authorization !== undefined && { authorization }),
        // Lists shrink to a twentieth; on loopback the CPU is worth more than the bytes.
        ...(!isLoopback && !request.longLived && request.method === 'GET' && { 'accept-encoding': 'gzip' }),
      },
      body: request.body ?? null,
      signal: request.signal ?? null,
    });
  };

  return {
    async request(request) {
      const access = await config.access();
      let answer: Dispatcher.ResponseData;
      try {
        answer = await sendTo(access, request);
      } catch (cause) {
        if (request.signal?.aborted) throw request.signal.reason;
        throw new TransportError(`${request.method} ${config.server}${request.path}: ${messageOf(cause)}`, {
          sent: !NEVER_SENT.has(codeOf(cause)),
          cause,
        });
      }
      if (answer.statusCode === 401) config.forget();
      return responseOf(answer, request);
    },
    async close() {
      const closing = pools;
      pools = undefined;
      await Promise.all([closing?.short.destroy(), closing?.long.destroy()]);
    },
  };
}

interface Pools extends Pick<Access, 'ca' | 'cert' | 'key'> {
  readonly short: Pool;
  readonly long: Pool;
}

function makePools(origin: string, config: ClusterConfig, { ca, cert, key }: Access): Pools {
  const connect = {
    // One for all connections: each would otherwise read the certificates again, and keep 0.1 MB for it.
    ...(origin.startsWith('https:') && { secureContext: createSecureContext({ ca, cert, key }) }),
    ...(config.serverName !== undefined && { servername: config.serverName }),
    rejectUnauthorized: config.insecure !== true,
    timeout: 10_000,
  };
  return {
    ca,
    cert,
    key,
    short: new Pool(origin, { connect, connections: CONNECTIONS, headersTimeout: 30_000, bodyTimeout: 60_000 }),
    // No limit on silence here: whoever watches knows when silence means death (the reflector's guard).
    long: new Pool(origin, { connect, connections: null, headersTimeout: 30_000, bodyTimeout: 0 }),
  };
}

/** Failures before the first byte left: the server can't have seen the request. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function responseOf(answer: Dispatcher.ResponseData, request: TransportRequest): TransportResponse {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  // Whoever reads is told what breaks; a body that nobody reads any more must not end the process.
  answer.body.on('error', () => {});
  const broken = (cause: unknown) =>
    request.signal?.aborted
      ? request.signal.reason
      : new TransportError(`${request.method} ${request.path}: the answer broke off: ${messageOf(cause)}`, {
          sent: true,
          cause,
        });
  return {
    status: answer.statusCode,
    headers,
    async text() {
      try {
        if (headers['content-encoding'] !== 'gzip') return await answer.body.text();
        return (await unzip(await answer.body.arrayBuffer())).toString('utf8');
      } catch (cause) {
        throw broken(cause);
      }
    },
    async *chunks() {
      try {
        yield* answer.body;
      } catch (cause) {
        throw broken(cause);
      } finally {
        answer.body.destroy();
      }
    },
    discard: () => answer.body.dump(),
  };
}
