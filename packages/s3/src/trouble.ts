/** What went wrong between us and a storage, for whoever decides what to do about it. */
export type Trouble =
  /** There is no such bucket: an object that is not there is an answer and no error. */
  | { readonly is: 'no-bucket'; readonly code: string }
  /** By the code one sees which: `AccessDenied`, `InvalidAccessKeyId`, `SignatureDoesNotMatch`. */
  | { readonly is: 'forbidden'; readonly code: string }
  /** It will say the same the next time. */
  | { readonly is: 'refused'; readonly status: number; readonly code: string }
  /** It has too much to do, or does not feel well. It was asked several times. */
  | { readonly is: 'busy'; readonly status: number; readonly code: string }
  /** No answer, or half of one. It was asked several times. */
  | { readonly is: 'unreachable' };

/** What the server said itself. */
export type Said = Exclude<Trouble, { readonly is: 'unreachable' }>;

/** Its text names no secret, and repeats nothing that the server said but a code. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly trouble: Trouble;

  constructor(message: string, trouble: Trouble) {
    super(message);
    this.trouble = trouble;
  }
}

/** Refusals that end by themselves: credentials are lent anew, clocks are set, the bucket is there for everybody. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'OperationAborted',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'SlowDown',
]);

/** Of an answer that is no success. `code` is the one in its body, which an answer to HEAD has not. */
export function troubleOf(status: number, code: string = NAMES[status] ?? `Status${status}`): Said {
  if (status >= 500 || status === 429 || status === 408 || PASSING_CODES.has(code)) return { is: 'busy', status, code };
  if (status === 401 || status === 403) return { is: 'forbidden', code };
  if (code === 'NoSuchBucket') return { is: 'no-bucket', code };
  return { is: 'refused', status, code };
}

const NAMES: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};
