import { setMaxListeners } from 'node:events';
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '@polder/kube';

type Handle = (request: TransportRequest) => Promise<TransportResponse>;

/** Hands requests over in the same process. Closing it breaks what is under way, as closing sockets does. */
export function inProcessTransport(handle: Handle): Transport {
  const end = endable(handle, 'the transport was closed');
  return { request: end.handle, close: async () => end.end() };
}

/** The same handle until `end` is called: then open watches break, and new requests fail. */
export function endable(handle: Handle, reason: string): { readonly handle: Handle; end(): void } {
  const ended = new AbortController();
  // Every open watch listens to it; that is no leak.
  setMaxListeners(0, ended.signal);
  return {
    async handle(request) {
      if (ended.signal.aborted) throw new TransportError(reason, { sent: false });
      const signal = request.signal === undefined ? ended.signal : AbortSignal.any([ended.signal, request.signal]);
      return handle({ ...request, signal });
    },
    end: () => ended.abort(new TransportError(reason, { sent: true })),
  };
}
