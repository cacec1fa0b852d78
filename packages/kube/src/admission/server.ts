import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Hono } from 'hono';
import type { CertificateSource } from '../certificates/index.ts';
import type { Clock } from '../clock/index.ts';
import { type Logger, messageOf } from '../log.ts';

export interface ServeAdmissionOptions {
  readonly app: Hono;
  readonly certificates: CertificateSource;
  readonly clock: Clock;
  readonly log: Logger;
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
  const { app, certificates, clock, log, host = '127.0.0.1', port = 9443 } = options;
  const secure = () => ({ cert: certificates.current.certificate, key: certificates.current.key });
  const server = createServer({ ...secure(), minVersion: 'TLSv1.2' }, (request, response) => {
    answer(app, request, response).catch((error: unknown) => {
      log.warn({ path: request.url, error: messageOf(error) }, 'webhook request broke off');
      response.destroy();
    });
  });
  // Connections that exist keep the old certificate; new ones get the new.
  const subscription = certificates.subscribe(() => server.setSecureContext(secure()));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
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

/** Between Node's HTTP and the web's: what hono asks for. */
async function answer(app: Hono, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const method = incoming.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' as const } : {};
  const request = new Request(new URL(incoming.url ?? '/', 'https://webhook'), { method, headers, ...body });
  const response = await app.fetch(request);
  // A body that was refused unread would otherwise be taken for the next request.
  if (!incoming.complete) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  await pipeline(Readable.from([Buffer.from(await response.arrayBuffer())]), outgoing);
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
