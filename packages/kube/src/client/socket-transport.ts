import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import Pool from 'undici/lib/dispatcher/pool.js';
import { messageOf } from '../log.ts';
import type { Access, ClusterConfig } from './config.ts';
import { Exchange, type Head } from './exchange.ts';
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

  const send = (access: Access, request: TransportRequest): Exchange => {
    request.signal?.throwIfAborted();
    const exchange = new Exchange(request.signal);
    const { short, long } = poolsFor(access);
    const { authorization } = access;
    const headers = {
      ...request.headers,
      ...(authorization !== undefined && { authorization }),
      // Lists shrink to a twentieth; on loopback the CPU is worth more than the bytes.
      ...(!isLoopback && !request.longLived && request.method === 'GET' && { 'accept-encoding': 'gzip' }),
    };
    const options = { method: request.method, path: prefix + request.path, headers, body: request.body ?? null };
    (request.longLived ? long : short).dispatch(options, exchange);
    return exchange;
  };

  return {
    async request(request) {
      const exchange = send(await config.access(), request);
      let head: Head;
      try {
        head = await exchange.head;
      } catch (cause) {
        if (request.signal?.aborted) throw request.signal.reason;
        throw new TransportError(`${request.method} ${config.server}${request.path}: ${messageOf(cause)}`, {
          sent: !NEVER_SENT.has(codeOf(cause)),
          cause,
        });
      }
      if (head.status === 401) config.forget();
      return responseOf(head, exchange, request);
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
  // Asked, a server would take HTTP/2, and all watches would share one connection.
  const both = { connect, allowH2: false, headersTimeout: 30_000 };
  return {
    ca,
    cert,
    key,
    short: new Pool(origin, { ...both, connections: CONNECTIONS, bodyTimeout: 60_000 }),
    // No limit on silence here: whoever watches knows when silence means death (the reflector's guard).
    long: new Pool(origin, { ...both, connections: null, bodyTimeout: 0 }),
  };
}

/** Failures before the first byte left: the server can't have seen the request. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function responseOf(head: Head, exchange: Exchange, request: TransportRequest): TransportResponse {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(head.headers)) {
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const broken = (cause: unknown) =>
    request.signal?.aborted
      ? request.signal.reason
      : new TransportError(`${request.method} ${request.path}: the answer broke off: ${messageOf(cause)}`, {
          sent: true,
          cause,
        });
  return {
    status: head.status,
    headers,
    async text() {
      try {
        const body = await exchange.rest();
        return (headers['content-encoding'] === 'gzip' ? await unzip(body) : body).toString('utf8');
      } catch (cause) {
        throw broken(cause);
      }
    },
    async *chunks() {
      try {
        for (let some = await exchange.take(); some; some = await exchange.take()) {
          for (const chunk of some) yield chunk;
        }
      } catch (cause) {
        throw broken(cause);
      } finally {
        exchange.leave(new Error('nobody reads on'));
      }
    },
    async discard() {
      // The connection is used again once all has come; one that breaks instead is nobody's loss.
      await exchange.rest().catch(() => {});
    },
  };
}
