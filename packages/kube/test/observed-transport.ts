import type { Transport, TransportRequest, TransportResponse } from '../src/client/index.ts';

/** A way to a server on which a test can see what passes, and stand in the way. */
export class ObservedTransport implements Transport {
  /** Every request that got through to the server, in order: `PATCH /api/v1/pods/a`. */
  readonly requests: string[] = [];
  /** Called before a request is passed on; what it throws is the answer that never came. */
  before: (request: TransportRequest) => void | Promise<void> = () => {};
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    await this.before(request);
    this.requests.push(`${request.method} ${request.path.split('?')[0]}`);
    return this.#inner.request(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
