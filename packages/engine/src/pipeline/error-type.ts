import type { ErrorType } from '../message.ts';

/** What kind of trouble a connector threw, by the names and codes that Node and its libraries give. */
export function errorTypeOf(error: unknown): ErrorType {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error.name === 'TimeoutError' || code.includes('TIMEDOUT') || code.includes('TIMEOUT')) return 'timeout';
  if (/^E(CONN|PIPE|HOST|NET|NOTFOUND|AI_AGAIN)/.test(code) || code === 'UND_ERR_SOCKET') return 'connection_error';
  return 'unknown';
}
