/** What becomes of one request. */
export type Fault =
  /** An answer instead of the real one: 503 SlowDown, 500 InternalError, 403 AccessDenied. */
  | { readonly is: 'answer'; readonly status: number; readonly code: string }
  /** Connections are taken and nobody answers. */
  | { readonly is: 'hang' }
  /** The connection is closed, before or after what was asked for is carried out. */
  | { readonly is: 'close' }
  | { readonly is: 'close-after' }
  /** The connection is closed after so many bytes of the body. */
  | { readonly is: 'cut'; readonly afterBytes: number }
  /** The answer names another hash than that of what was sent. */
  | { readonly is: 'wrong-etag' }
  /** One byte of what is kept, or of what is sent, is another. */
  | { readonly is: 'corrupt' };

export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure';
  readonly code = 'ECONNRESET';
}
