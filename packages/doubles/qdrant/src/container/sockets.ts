import {
  createServer as createHttp,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import type { QdrantRequest, QdrantResponse } from '../rest/index.ts';
import type { Configuration } from './configuration.ts';

export const REST = 6333;
export const GRPC = 6334;
export const P2P = 6335;

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

export interface Sockets {
  /** Ports that are elsewhere, because this system does not have the address. */
  readonly moved: ReadonlyMap<number, SocketAddress>;
  close(): Promise<void>;
}

export interface Doors {
  readonly address: string;
  readonly tls: Configuration['tls'];
  /** Before the peer has joined, nobody is let in. */
  readonly isOpen: () => boolean;
  readonly answer: (request: QdrantRequest) => Promise<QdrantResponse>;
}

/** The three ports of a server. What peers tell each other goes no way over sockets here: two of them only accept. */
export async function openSockets({ address, tls, isOpen, answer }: Doors): Promise<Sockets> {
  const serve: RequestListener = (request, response) => void respond(request, response, answer);
  const rest: HttpServer = tls ? createHttps({ cert: tls.cert, key: tls.key }, serve) : createHttp(serve);
  const connections = new Set<Socket>();
  const servers = new Map<number, Server>([
    [REST, rest],
    [GRPC, createTcp()],
    [P2P, createTcp()],
  ]);
  const moved = new Map<number, SocketAddress>();
  const close = async () => {
    for (const socket of connections) socket.destroy();
    await Promise.all([...servers.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  };
  try {
    for (const [port, server] of servers) {
      server.on('connection', (socket) => {
        if (port === REST && !isOpen()) return void socket.destroy();
        connections.add(socket);
        socket.on('error', () => {}).once('close', () => connections.delete(socket));
      });
      const at = await listen(server, port, address);
      if (at.host !== address) moved.set(port, at);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { moved, close };
}

async function listen(server: Server, port: number, address: string): Promise<SocketAddress> {
  try {
    await listenAt(server, port, address);
    return { host: address, port };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL')) throw error;
    await listenAt(server, 0, '127.0.0.1');
    const bound = server.address();
    return { host: '127.0.0.1', port: typeof bound === 'object' && bound ? bound.port : 0 };
  }
}

const listenAt = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });

async function respond(request: IncomingMessage, response: ServerResponse, answer: Doors['answer']): Promise<void> {
  try {
    const body = Buffer.concat(await Array.fromAsync(request, (part: Uint8Array) => part));
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
    const { method = 'GET', url = '/' } = request;
    const answered = await answer({ method, path: url, headers: Object.fromEntries(headers), body });
    response.statusCode = answered.status;
    // Without `writeHead`: then the length is told as well, unless the answer is a stream.
    response.setHeaders(new Map(Object.entries(answered.headers))).end(answered.body);
  } catch {
    request.socket.destroy();
  }
}
