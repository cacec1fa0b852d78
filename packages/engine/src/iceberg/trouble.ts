import type { ErrorType } from '../message.ts';

export interface Trouble {
  readonly type: ErrorType;
  /** Another attempt may help. */
  readonly isRetryable: boolean;
  /** What the server answered. Undefined: nothing came, and nobody knows what it did. */
  readonly status?: number | undefined;
}

/** What went wrong between us and a catalog or its storage, in words for a user. Its text names no secret and no row. */
export class IcebergError extends Error {
  override readonly name = 'IcebergError';
  readonly type: ErrorType;
  readonly isRetryable: boolean;
  readonly status: number | undefined;

  constructor(message: string, { type, isRetryable, status }: Trouble = { type: 'unknown', isRetryable: false }) {
    super(message);
    this.type = type;
    this.isRetryable = isRetryable;
    this.status = status;
  }
}

/** By the status of an answer that is no success. */
export function troubleOf(status: number): Trouble {
  if (status === 401 || status === 403) return { type: 'auth_error', isRetryable: false, status };
  if (status === 408 || status === 504) return { type: 'timeout', isRetryable: true, status };
  const isPassing = status >= 500 || status === 409 || status === 425 || status === 429;
  return { type: isPassing ? 'transient' : 'unknown', isRetryable: isPassing, status };
}

/** Something of the format that this program does not read or write, or that contradicts the specification. */
export const unsupported = (message: string): IcebergError =>
  new IcebergError(message, { type: 'invalid_data', isRetryable: false });
