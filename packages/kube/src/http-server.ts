import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { CertificateSource } from './certificates/index.ts';
import { type Clock, systemClock } from './clock/index.ts';

export interface ServeOptions {
  /** 0 takes any that is free. */
  readonly port: number;
  /** Loopback unless told otherwise; in a pod it has to be `0.0.0.0` or `::`. */
  readonly host?: string | undefined;
  /** Serve over TLS; plain without it. */
  readonly certificates?: CertificateSource | undefined;
  readonly clock?: Clock | undefined;
}

export interface HttpServer {
  readonly port: number;
  /** Lets requests under way finish, for five seconds; no socket is left. */
  close(): Promise<void>;
}

const GRACE_MS = 5_000;

/** Serves an application; a port that is taken is an error that names it. */
export async function serve(app: Hono, options: ServeOptions): Promise<HttpServer> {
  const { host = '127.0.0.1', port, certificates, clock = systemClock } = options;
  const { server, stopReloading } = serverOf(app, certificates);
  const breakOff = connectionsOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const because = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
      reject(new Error(`cannot listen on ${host}:${port}: ${because}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        stopReloading();
        const timer = clock.after(GRACE_MS, breakOff);
        server.close(() => {
          timer.cancel();
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/**
 * Follows the connections of a server; what it returns breaks all of them off. Node's own `closeAllConnections` knows none
 * that has not finished its TLS handshake, and such a one would keep a server from closing for two minutes.
 */
export function connectionsOf(server: Server): () => void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => {
    for (const socket of open) socket.destroy();
  };
}

function serverOf(app: Hono, certificates: CertificateSource | undefined) {
  const listener = getRequestListener(app.fetch);
  if (!certificates) {
    return { server: createServer((request, response) => void listener(request, response)), stopReloading: () => {} };
  }
  const pair = () => ({ cert: certificates.current.certificate, key: certificates.current.key });
  const server = createSecureServer(pair(), (request, response) => void listener(request, response));
  // Connections that exist keep the old certificate; new ones get the new.
  const { unsubscribe } = certificates.subscribe(() => server.setSecureContext(pair()));
  return { server, stopReloading: unsubscribe };
}
