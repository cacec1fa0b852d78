import { TransportError, type TransportRequest, type TransportResponse } from './transport.ts';

/** After this many answers of "not now" the last one is given to the caller. */
const MOST_TRIES = 10;
/** A connection that breaks this often is the caller's to know about: its own backoff is longer than ours. */
const MOST_CONNECTION_TRIES = 3;

export type Verdict = { readonly again: false } | { readonly again: true; readonly afterMs: number };

const NO: Verdict = { again: false };

/**
 * The server asked us to come back later, and said when; without `Retry-After` a 5xx may have been carried out.
 * A first 401 may be a token that has just been replaced: the transport has forgotten it by now and reads the new one.
 */
export function afterAnswer(answer: TransportResponse, tries: number): Verdict {
  if (answer.status === 401 && tries === 1) return { again: true, afterMs: 0 };
  const isRefusal = answer.status === 429 || answer.status >= 500;
  const wait = retryAfterMs(answer);
  return isRefusal && wait !== undefined && tries < MOST_TRIES ? { again: true, afterMs: wait } : NO;
}

/**
 * No answer. A request the server never saw can always be sent again; one it may have carried out only if doing it twice
 * does no more than doing it once. A POST is never that: with `generateName` it would make a second object.
 */
export function afterFailure(error: unknown, request: TransportRequest, isRepeatable: boolean, tries: number): Verdict {
  if (!(error instanceof TransportError) || tries >= MOST_CONNECTION_TRIES) return NO;
  // Who watches has a backoff of its own; two of them, one in the other, would add up.
  if (request.longLived) return NO;
  return isRepeatable || !error.sent ? { again: true, afterMs: 100 * 2 ** (tries - 1) } : NO;
}

/** In seconds on the wire; the API server never sends a date. */
export function retryAfterMs(answer: TransportResponse): number | undefined {
  const seconds = Number.parseFloat(answer.headers['retry-after'] ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
