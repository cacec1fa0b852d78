import { Agent, type RequestOptions, request } from 'node:https';
import { type TlsConfig, tlsOptions } from '../../tls.ts';
import type { Fetch, HttpResponse } from './http.ts';

/** Trino closes connections that nobody uses; one that is closed while a statement is sent on it fails the statement. */
const IDLE_MS = 4_000;

/** What asks Trino and Keycloak. `fetch` can't be told whom to trust, so that a `tls` block needs the client beneath it. */
export function fetchOf(tls: TlsConfig | undefined): Fetch {
  if (tls === undefined) return fetch;
  const agent = new Agent({ ...tlsOptions(tls), keepAlive: true, timeout: IDLE_MS });
  return (url, request) =>
    url.startsWith('https:') ? send(url, { ...request, agent }, request.body) : fetch(url, request);
}

function send(url: string, options: RequestOptions, body: string | undefined): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const call = request(url, options, (response) => {
      resolve({
        status: response.statusCode ?? 0,
        text: async () => (await response.setEncoding('utf8').toArray()).join(''),
      });
    });
    call.once('error', reject);
    call.end(body);
  });
}
