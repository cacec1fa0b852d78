import { type TransportResponse } from '@polder/kube';
import { internalError, StatusError } from '../status.ts';

/** What the server says, before it is a response. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
}

/** What every answer carries. All requests are treated alike here, so there is one flow and one priority. */
export interface RequestIds {
  readonly audit: string;
  readonly flowSchema: string;
  readonly priorityLevel: string;
}

export const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });

export const jsonText = (status: number, body: string): Answer => ({ status, body });

export const plain = (status: number, body: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  headers: { 'x-content-type-options': 'nosniff' },
  body,
});

/** Paths outside of the API are answered like any web server does. */
export const pageNotFound = (): Answer => plain(404, '404 page not found\n');

export function failure(error: unknown): Answer {
  const status = error instanceof StatusError ? error : internalError(String(error));
  const retryAfter = status.details?.retryAfterSeconds;
  return {
    status: status.code,
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
    body: JSON.stringify(status),
  };
}

export function response(answer: Answer, ids: RequestIds, warnings: readonly string[]): TransportResponse {
  const { body } = answer;
  return {
    status: answer.status,
    headers: {
      'audit-id': ids.audit,
      'x-kubernetes-pf-flowschema-uid': ids.flowSchema,
      'x-kubernetes-pf-prioritylevel-uid': ids.priorityLevel,
      'cache-control': 'no-cache, private',
      'content-type': answer.contentType ?? 'application/json',
      ...(warnings.length > 0 && { warning: warnings.map(warningHeader).join(', ') }),
      ...(typeof body !== 'string' && { 'transfer-encoding': 'chunked' }),
      ...answer.headers,
    },
    text: () => (typeof body === 'string' ? Promise.resolve(body) : collect(body)),
    chunks: () => (typeof body === 'string' ? once(body) : body),
    async discard() {
      if (typeof body === 'string') return;
      // Starting and leaving the stream lets it clean up after itself.
      for await (const _ of abandoned(body)) break;
    },
  };
}

async function* abandoned(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  await iterator.return?.();
  yield* [];
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function* once(body: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(body);
}

const warningHeader = (message: string) => `299 - ${JSON.stringify(message)}`;
