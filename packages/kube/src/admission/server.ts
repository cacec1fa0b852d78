import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { CertificateSource } from '../certificates/index.ts';
import type { Clock } from '../clock/index.ts';

export interface ServeAdmissionOptions {
  readonly app: Hono;
  readonly certificates: CertificateSource;
  readonly clock: Clock;
  /** Loopback unless told otherwise; in a pod it has to be `0.0.0.0` or `::`. */
  readonly host?: string | undefined;
  /** Default 9443; 0 takes any that is free. */
  readonly port?: number | undefined;
}

export interface AdmissionServer {
  readonly port: number;
  /** Lets requests under way finish, for five seconds; no socket is left. */
  close(): Promise<void>;
}

const GRACE_MS = 5_000;

export async function serveAdmission(options: ServeAdmissionOptions): Promise<AdmissionServer> {
  const { app, certificates, clock, host = '127.0.0.1', port = 9443 } = options;
  const secure = () => ({ cert: certificates.current.certificate, key: certificates.current.key });
  const listener = getRequestListener(app.fetch);
  const server = createServer(secure(), (request, response) => void listener(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const because = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
      reject(new Error(`cannot listen on ${host}:${port}: ${because}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  // Connections that exist keep the old certificate; new ones get the new.
  const reload = () => server.setSecureContext(secure());
  const subscription = certificates.subscribe(reload);
  reload();
  const address = server.address();
  return {
    port: isAddress(address) ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        subscription.unsubscribe();
        const timer = clock.after(GRACE_MS, () => server.closeAllConnections());
        server.close(() => {
          timer.cancel();
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
