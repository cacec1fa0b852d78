import type { Transport } from './transport.ts';

/** A write was about to be sent by one who may not write any more. */
export class NotLeader extends Error {
  override readonly name = 'NotLeader';
}

/**
 * Lets reads pass always, and writes only while `mayWrite()`: asked at the last moment before each, so that not even a pass
 * that ignores its signal, or wakes up after a blocked event loop, writes what only a leader may.
 */
export function fenced(transport: Transport, mayWrite: () => boolean): Transport {
  return {
    async request(request) {
      if (request.method !== 'GET' && !mayWrite()) {
        throw new NotLeader(`${request.method} ${request.path} not sent: this process does not lead any more`);
      }
      return await transport.request(request);
    },
    // Whoever made the connections closes them.
    close: async () => {},
  };
}
