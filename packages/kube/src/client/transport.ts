/**
 * How a request reaches an API server. Two makers: `socketTransport` (HTTP over TLS) and the embedded server's own
 * `transport()`, which hands the request over in the same process: no socket, no serialised headers, deterministic.
 */
export interface Transport {
  /** Resolves with the head of the answer, whatever its status; rejects only if there was none (`TransportError`). */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Closes all connections; requests under way fail. */
  close(): Promise<void>;
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, already encoded: `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A watch or a followed log: has its own connection, and silence is no failure. */
  readonly longLived?: boolean | undefined;
}

/** Exactly one of `text`, `chunks` and `discard` has to be called, once. */
export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  text(): Promise<string>;
  /** Ends when the server ends the answer, throws when the connection breaks; leaving the loop closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

/** The request got no (whole) answer. `sent` tells whether the server may have seen it. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: boolean;

  constructor(message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.sent = options.sent;
  }
}
