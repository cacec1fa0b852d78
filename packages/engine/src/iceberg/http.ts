import type { Clock } from '../clock.ts';
import { messageOf } from '../log.ts';
import { IcebergError } from './trouble.ts';

/** The part of `fetch` that is needed here; `fetch` is one. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer<ArrayBuffer>;
  readonly signal: AbortSignal;
  /** Nobody redirects these requests in good faith: a token must not follow. */
  readonly redirect: 'manual';
}

export interface FetchResponse {
  readonly status: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** How requests go out, and the time they take. */
export interface Transport {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** A whole answer, not a byte of it: long enough for a row group from far away. */
const TIMEOUT_MS = 120_000;

/**
 * One request, one answer, whatever its status. Rejects with an `IcebergError` without a status if none came: then nobody
 * knows whether the server did what it was told. An abort of the signal rejects with its reason.
 */
export async function exchange(
  { fetch, clock }: Transport,
  { method, url, headers = {}, body }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const late = new AbortController();
  const timer = clock.after(TIMEOUT_MS, () => late.abort());
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers },
      signal: AbortSignal.any([signal, late.signal]),
      redirect: 'manual',
      ...(body && { body: Buffer.from(body) }),
    });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  } catch (error) {
    signal.throwIfAborted();
    // Without the query: what is in it may not be for every log.
    const where = new URL(url).origin;
    if (late.signal.aborted)
      throw new IcebergError(`${where} gave no answer within ${TIMEOUT_MS / 1000} s`, {
        type: 'timeout',
        isRetryable: true,
      });
    throw new IcebergError(`${where} can't be reached: ${causeOf(error)}`, {
      type: 'connection_error',
      isRetryable: !isUntrusted(error),
    });
  } finally {
    timer.cancel();
  }
}

/**
 * `fetch failed` says nothing: the reason is in the cause, which for several addresses of one host is a list of them. Without a
 * cause it is about the request itself, and may quote an address with a password in it.
 */
function causeOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  return first === undefined ? 'the request could not be made' : messageOf(first);
}

function isUntrusted(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && /CERT|VERIFY|SELF_SIGNED|ALTNAME/.test(String(cause.code));
}
