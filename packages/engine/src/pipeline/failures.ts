import type { Source } from '../connector.ts';
import { ERROR_TYPES, type ErrorType, type Failure, type Message } from '../message.ts';

/** What kind of trouble a connector threw: what it says itself, or else by the names and codes that Node and its libraries give. */
export function errorTypeOf(error: unknown): ErrorType {
  if (!(error instanceof Error)) return 'unknown';
  const own = 'type' in error ? ERROR_TYPES.find((type) => type === error.type) : undefined;
  if (own !== undefined) return own;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error.name === 'TimeoutError' || code.includes('TIMEDOUT') || code.includes('TIMEOUT')) return 'timeout';
  if (/^E(CONN|PIPE|HOST|NET|NOTFOUND|AI_AGAIN)/.test(code) || code === 'UND_ERR_SOCKET') return 'connection_error';
  return 'unknown';
}

/** A route whose buffer is full and stays so. */
export function routeIsDead(message: Message, condition: string): Failure {
  const because = `route ${condition}: nothing could be written for longer than its retry budget, and its buffer is full`;
  return { message, because, type: 'timeout', isRetryable: true };
}

/** There is no error sink for it. Says where the message is and not why it failed: that may quote what is in it. */
export function nowhereToGo(
  stage: 'decode' | 'write',
  { message: { origin }, type }: Failure,
  source: Pick<Source, 'describe'>,
): Error {
  const where = source.describe?.(origin) ?? origin.partition;
  const next = 'declare spec.errors to set such messages aside, with the reason';
  return new Error(`a message could not be ${stage === 'decode' ? 'decoded' : 'written'} (${where}): ${type}; ${next}`);
}
