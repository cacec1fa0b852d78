import { type Clock, type HttpServer, type Logger, serve } from '@polder/kube';
import type { Hono } from 'hono';
import type { BindAddress } from '../bind-address.ts';

/** Serves an application, and says where. */
export async function serving(
  what: string,
  app: Hono,
  { host, port }: BindAddress,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<HttpServer> {
  const server = await serve(app, { host, port, clock });
  log.info({ port: server.port }, `serving ${what} on ${host}:${server.port}`);
  return server;
}
