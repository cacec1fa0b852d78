import { isObject, type Json, objectAt, parseJson, textAt } from './json.ts';

/** What a peer said. None of it is an exception: a plan has to say what it does about each. */
export type Answer<T> =
  | { readonly is: 'ok'; readonly value: T }
  /** It will say the same the next time. */
  | { readonly is: 'refused'; readonly status: number; readonly because: string }
  /** Our key is not its key. */
  | { readonly is: 'unauthorized'; readonly because: string }
  /** It may have been done, or may be done later: look before it is asked for again. */
  | { readonly is: 'ambiguous'; readonly because: string }
  /** Nobody answered, or not in time. */
  | { readonly is: 'unreachable'; readonly because: string };

export interface PeerRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whom to trust, PEM. */
  readonly authority?: string | undefined;
}

export interface PeerResponse {
  readonly status: number;
  readonly text: string;
}

/** Sends a request. Rejects if there is no answer. */
export type Send = (request: PeerRequest, signal: AbortSignal) => Promise<PeerResponse>;

const REFUSALS: readonly number[] = [400, 403, 404, 405, 409, 422];

export function answerOf({ status, text }: PeerResponse, isWrite: boolean): Answer<Json> {
  if (status === 401) return { is: 'unauthorized', because: text.slice(0, 200) };
  const body = bodyOf(text);
  if (status >= 200 && status < 300) {
    // An answer that was cut off is none.
    if (!isObject(body) || !('result' in body)) return unclear(isWrite, `${status} without a result`);
    return { is: 'ok', value: body['result'] ?? null };
  }
  const because = textAt(objectAt(body, 'status'), 'error') ?? (text === '' ? `status ${status}` : text.slice(0, 500));
  return REFUSALS.includes(status) ? { is: 'refused', status, because } : unclear(isWrite, because);
}

/** A question that failed can be asked again; what was told to be done may have been. */
const unclear = (isWrite: boolean, because: string): Answer<never> => ({
  is: isWrite ? 'ambiguous' : 'unreachable',
  because,
});

function bodyOf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
