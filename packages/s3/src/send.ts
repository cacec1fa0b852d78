export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

export interface S3Response {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Throws if the connection ends before it does. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends a request; resolves when the answer begins. Rejects if there is none. */
export type Send = (request: S3Request, signal: AbortSignal) => Promise<S3Response>;
