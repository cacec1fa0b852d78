import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Clock, withTimeout } from '@polder/kube';
import { uuid } from '../core.ts';
import { printJson } from '../exact-json.ts';

/** Where a webhook is: the `clientConfig` of admission and conversion webhooks alike. */
export interface WebhookAddress {
  readonly url?: string;
  readonly service?: WebhookService;
  /** Base64 of the certificates to trust. */
  readonly caBundle?: string;
}

export interface WebhookService {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string;
  readonly port?: number;
}

/** The host and port behind a service; there is no network of its own in one process. */
export type ServiceResolver = (service: WebhookService) => Promise<{ readonly host: string; readonly port: number }>;

/** How a body gets to an address and an answer back. Tests hand in their own. */
export type WebhookPost = (request: WebhookRequest) => Promise<string>;

export interface WebhookRequest {
  readonly url: string;
  /** The name in the certificate, if it is not the one in the URL. */
  readonly serverName: string | undefined;
  /** PEM. */
  readonly ca: string | undefined;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface WebhookCaller {
  /** The text of the answer; rejects if there was none in time or it was no success. */
  call(address: WebhookAddress, body: unknown, timeoutMs: number): Promise<string>;
  requestId(): string;
}

export function webhookCaller(options: {
  readonly clock: Clock;
  readonly random: () => number;
  readonly post: WebhookPost;
  readonly resolve: ServiceResolver | undefined;
}): WebhookCaller {
  return {
    requestId: () => uuid(options.random),
    async call(address, body, timeoutMs) {
      const { url, serverName } = await located(address, options.resolve);
      const ca = address.caBundle === undefined ? undefined : Buffer.from(address.caBundle, 'base64').toString();
      return withTimeout(options.clock, timeoutMs, undefined, `Post "${url}"`, (signal) =>
        options.post({ url, serverName, ca, body: printJson(body), signal }),
      );
    },
  };
}

async function located(
  { url, service }: WebhookAddress,
  resolve: ServiceResolver | undefined,
): Promise<{ url: string; serverName: string | undefined }> {
  if (url !== undefined) return { url, serverName: undefined };
  if (service === undefined) throw new Error('the webhook has neither a url nor a service');
  const serverName = `${service.name}.${service.namespace}.svc`;
  if (resolve === undefined)
    throw new Error(`service ${service.namespace}/${service.name} cannot be reached from here`);
  const { host, port } = await resolve(service);
  return { url: `https://${host}:${port}${service.path ?? ''}`, serverName };
}

/** Posts over a real socket. */
export const postOverSocket: WebhookPost = ({ url, serverName, ca, body, signal }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith('http:') ? httpRequest : httpsRequest;
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const tls = { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { servername: serverName }) };
    const request = send(url, { method: 'POST', headers, signal, ...tls }, (response) => {
      const parts: Uint8Array[] = [];
      response.on('data', (part: Uint8Array) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve(text);
        else reject(new Error(`the server answered ${statusCode}: ${text.slice(0, 200)}`));
      });
    });
    request.on('error', (error) => reject(new Error(`failed to call webhook: Post "${url}": ${error.message}`)));
    request.end(body);
  });
