import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';

export interface Address {
  /** Loopback unless told otherwise. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves plain HTTP; a port that is taken is an error that names it. */
export function serve(app: Hono, { host = '127.0.0.1', port }: Address): Promise<HttpServer> {
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const because = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
      reject(new Error(`cannot listen on ${host}:${port}: ${because}`, { cause }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve({
        port: typeof address === 'object' && address ? address.port : port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
