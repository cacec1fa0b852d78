/** One field or rule that a request broke, as the API server reports it. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The `Status` object in which the API server explains a failure. */
export interface Status {
  readonly kind: 'Status';
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** The API server answered, and the answer is no. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status, 410 for instance. */
  readonly status: number;
  /** What the server said, and nothing else: the same refusal has the same text. */
  readonly explanation: string;
  /** The machine-readable reason, `Expired` for instance; empty if something before the API server answered. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Finds the request in the API server's audit log. */
  readonly auditId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: number, status: Status, answer: Partial<Pick<ApiError, 'auditId' | 'retryAfterMs'>> = {}) {
    const reason = status.reason ?? '';
    const facts = [`${code}${reason && ` ${reason}`}`, ...(answer.auditId ? [`audit id ${answer.auditId}`] : [])];
    const explanation = status.message ?? 'the server gave no reason';
    super(`${explanation} (${facts.join(', ')})`);
    this.explanation = explanation;
    this.status = code;
    this.reason = reason;
    this.causes = status.details?.causes ?? [];
    this.auditId = answer.auditId;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

const has = (status: number, reason?: string) => (error: unknown) =>
  error instanceof ApiError && error.status === status && (reason === undefined || error.reason === reason);

export const isNotFound = has(404);
/** The object changed since it was read, a precondition failed, or another field manager owns the field. */
export const isConflict = has(409, 'Conflict');
export const isAlreadyExists = has(409, 'AlreadyExists');
export const isInvalid = has(422);
/** The resource version (or the continue token) is older than what the server still remembers. */
export const isExpired = has(410);
export const isTooManyRequests = has(429);

/** The server does not know the version yet: it was taken from another server that is ahead. */
export function isVersionTooLarge(error: unknown): boolean {
  return error instanceof ApiError && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}
