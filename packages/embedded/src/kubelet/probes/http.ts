import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { HTTPGetAction } from '@polder/kube';
import type { ProbeAnswer } from '../runner.ts';
import { codeOf, dialError } from './network-error.ts';
import { joined, type ProbeTarget, portOf } from './target.ts';

const MOST_REDIRECTS = 10;
/** More of a body is not waited for. */
const MOST_OF_BODY = 10 * 1024;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Healthy from 200 to 399. It goes where the answer sends it, unless that is another host: being sent away is an answer. */
export async function askHttp(action: HTTPGetAction, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const first = urlOf(action, target);
  const headers = headersOf(action);
  let url = first;
  for (let sent = 1; ; sent++) {
    const answer = await get(url, headers, signal);
    if (answer.is === 'failed')
      return { is: 'unhealthy', because: `Get ${JSON.stringify(String(url))}: ${answer.why}` };
    const next = REDIRECTS.includes(answer.status) && answer.location ? URL.parse(answer.location, String(url)) : null;
    if (next === null || next.hostname !== first.hostname) return verdict(answer.status);
    if (sent >= MOST_REDIRECTS) {
      const because = `Get ${JSON.stringify(String(next))}: stopped after ${MOST_REDIRECTS} redirects`;
      return { is: 'unhealthy', because };
    }
    url = next;
  }
}

function verdict(status: number): ProbeAnswer {
  return status >= 200 && status < 400
    ? { is: 'healthy' }
    : { is: 'unhealthy', because: `HTTP probe failed with statuscode: ${status}` };
}

function urlOf({ scheme = 'HTTP', host, port, path = '/' }: HTTPGetAction, { address, container }: ProbeTarget): URL {
  const url = new URL(`${scheme.toLowerCase()}://${joined(host || address, portOf(port, container))}`);
  const [, pathname = '/', search = ''] = /^([^?#]*)(\?[^#]*)?/.exec(path) ?? [];
  url.pathname = pathname;
  url.search = search;
  return url;
}

/** As pairs: a header may come more than once. An empty `Accept` asks for none to be sent. */
function headersOf({ httpHeaders = [] }: HTTPGetAction): Readonly<Record<string, readonly string[]>> {
  const headers: Record<string, string[]> = { 'user-agent': ['kube-probe/1.36'], accept: ['*/*'] };
  const given = new Set<string>();
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase();
    headers[key] = given.has(key) ? [...(headers[key] ?? []), value] : [value];
    given.add(key);
  }
  if (headers['accept']?.[0] === '') delete headers['accept'];
  return headers;
}

type Got =
  | { readonly is: 'answered'; readonly status: number; readonly location: string | undefined }
  | { readonly is: 'failed'; readonly why: string };

function get(url: URL, headers: Readonly<Record<string, readonly string[]>>, signal: AbortSignal): Promise<Got> {
  const timeout = (when: string) => `context deadline exceeded (Client.Timeout ${when})`;
  return new Promise((resolve) => {
    // Without verification: a probe asks whether it answers, not who it is. No agent: a connection is not used twice.
    const options = { agent: false, signal, rejectUnauthorized: false };
    const request = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    for (const [name, values] of Object.entries(headers)) request.setHeader(name, [...values]);
    request.once('response', (response) => {
      readSome(response).then(
        () => resolve({ is: 'answered', status: response.statusCode ?? 0, location: response.headers.location }),
        (error: unknown) => {
          const why = signal.aborted
            ? timeout('or context cancellation while reading body')
            : dialError(error, url.host);
          resolve({ is: 'failed', why });
        },
      );
    });
    request.once('error', (error) => {
      resolve({ is: 'failed', why: signal.aborted ? timeout('exceeded while awaiting headers') : wordsOf(error, url) });
    });
    request.end();
  });
}

async function readSome(response: IncomingMessage): Promise<void> {
  let size = 0;
  for await (const chunk of response) {
    size += Buffer.byteLength(chunk);
    // Leaving the loop closes the connection.
    if (size > MOST_OF_BODY) return;
  }
}

function wordsOf(error: Error, url: URL): string {
  const address = joined(
    url.hostname.replace(/^\[|\]$/g, ''),
    Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
  );
  // The other side closed without a word.
  if (codeOf(error) === 'ECONNRESET' && error.message === 'socket hang up') return 'EOF';
  if (codeOf(error) === 'EPROTO' && error.message.includes('wrong version number'))
    return 'http: server gave HTTP response to HTTPS client';
  return dialError(error, address);
}
