import type { Clock } from '../../clock.ts';
import { type Distrust, distrustOf } from '../../tls.ts';
import { lasting, passing, TrinoError, type Trouble } from './trouble.ts';

/** The part of `fetch` that is needed here; `fetch` is one. */
export type Fetch = (url: string, request: HttpRequest) => Promise<HttpResponse>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Nobody redirects these requests in good faith: a token must not follow. */
  readonly redirect: 'manual';
}

export interface HttpResponse {
  readonly status: number;
  text(): Promise<string>;
}

export interface Http {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export interface Question extends Pick<HttpRequest, 'method' | 'headers' | 'body'> {
  /** Whom we ask, for messages. */
  readonly who: string;
  readonly url: string;
  readonly timeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request and its whole answer, whatever its status. Fails with a `TrinoError`, or with the reason of the signal. */
export async function ask({ fetch, clock }: Http, question: Question, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted();
  const { who, url, method, headers, body, timeoutMs } = question;
  const attempt = new AbortController();
  const onAbort = () => attempt.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  let isLate = false;
  const timer = clock.after(timeoutMs, () => {
    isLate = true;
    attempt.abort();
  });
  try {
    const request = { method, headers, signal: attempt.signal, redirect: 'manual' as const };
    const response = await fetch(url, body === undefined ? request : { ...request, body });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    const where = URL.canParse(url) ? `${who} at ${new URL(url).host}` : who;
    if (isLate) throw new TrinoError(`${where} did not answer within ${timeoutMs / 1000} s`, passing('timeout'));
    const { code, trouble, hint } = brokenBy(error);
    throw new TrinoError(`${where} can't be reached (${code})${hint}`, trouble);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

/** What an answer without TLS looks like to who expects it. */
const NOT_TLS = /^EPROTO$|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;

const HINTS: Readonly<Record<Distrust, string>> = {
  expired: ': its certificate has expired; renew it there',
  'other name': ': its certificate is for another host; use a name that it has',
  'unknown authority': ': its certificate is not trusted; name its authority in tls.caFile',
};

/** By the code alone: texts of `fetch` may quote the request. */
function brokenBy(error: unknown): { readonly code: string; readonly trouble: Trouble; readonly hint: string } {
  const code = codeOf(error) ?? codeOf(error instanceof Error ? error.cause : undefined) ?? 'no connection';
  const distrust = distrustOf(code);
  if (distrust !== undefined) return { code, trouble: lasting('auth_error'), hint: HINTS[distrust] };
  if (NOT_TLS.test(code))
    return { code, trouble: lasting('connection_error'), hint: ': it does not speak TLS there; check the address' };
  return { code, trouble: passing('connection_error'), hint: '' };
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
