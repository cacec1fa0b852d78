import { type CertificateFileEvents, type Clock, type HttpServer, type Logger, serve, watchFiles } from '@polder/kube';
import type { Hono } from 'hono';
import type { BindAddress } from '../bind-address.ts';

export interface ServingTools {
  readonly clock: Clock;
  readonly log: Logger;
  /** Over TLS, with `tls.crt` and `tls.key` of this folder, as they are at each moment; plain without it. */
  readonly certificateDirectory?: string | undefined;
  readonly on?: CertificateFileEvents | undefined;
}

/** Serves an application, and says where. */
export async function serving(
  what: string,
  app: Hono,
  { host, port }: BindAddress,
  { clock, log, certificateDirectory, on }: ServingTools,
): Promise<Pick<HttpServer, 'close'>> {
  const certificates =
    certificateDirectory === undefined
      ? undefined
      : watchFiles(certificateDirectory, { clock, log, ...(on && { on }) });
  try {
    const server = await serve(app, { host, port, clock, certificates });
    log.info({ port: server.port }, `serving ${what} on ${host}:${server.port}`);
    return {
      async close() {
        await server.close();
        await certificates?.stop();
      },
    };
  } catch (error) {
    await certificates?.stop();
    throw error;
  }
}
