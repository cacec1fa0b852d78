/**
 * The answers to bad requests. The wording is the real server's (`k8s.io/apimachinery/pkg/api/errors` and
 * `…/util/validation/field`): people search for these sentences, and programs match on the reasons.
 */

import { printJson } from './exact-json.ts';

/** One thing wrong with one field, before it becomes a `cause` of a Status. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.template.spec.containers[0].name`; `<nil>` for the object itself. */
  readonly field: string;
  readonly detail: string;
  /**
   * Shown after the type for those that quote a value (Invalid, TypeInvalid, NotSupported, Duplicate, NotFound, TooMany).
   * Left out, nothing is quoted: rules on objects and lists do that.
   */
  readonly value?: unknown;
}

export type FieldErrorType =
  | 'Required'
  | 'Invalid'
  | 'TypeInvalid'
  | 'NotSupported'
  | 'Duplicate'
  | 'Forbidden'
  | 'NotFound'
  | 'TooLong'
  | 'TooMany'
  | 'Internal';

const WORDS: Record<FieldErrorType, { reason: string; says: string; quotes: boolean }> = {
  Required: { reason: 'FieldValueRequired', says: 'Required value', quotes: false },
  Invalid: { reason: 'FieldValueInvalid', says: 'Invalid value', quotes: true },
  TypeInvalid: { reason: 'FieldValueTypeInvalid', says: 'Invalid value', quotes: true },
  NotSupported: { reason: 'FieldValueNotSupported', says: 'Unsupported value', quotes: true },
  Duplicate: { reason: 'FieldValueDuplicate', says: 'Duplicate value', quotes: true },
  Forbidden: { reason: 'FieldValueForbidden', says: 'Forbidden', quotes: false },
  NotFound: { reason: 'FieldValueNotFound', says: 'Not found', quotes: true },
  TooLong: { reason: 'FieldValueTooLong', says: 'Too long', quotes: false },
  TooMany: { reason: 'FieldValueTooMany', says: 'Too many', quotes: true },
  Internal: { reason: 'InternalError', says: 'Internal error', quotes: false },
};

/** `Invalid value: "x": must be …`, without the field. */
export function messageOf(error: FieldError): string {
  const { says, quotes } = WORDS[error.type];
  const value = quotes && 'value' in error ? `: ${quote(error.value)}` : '';
  return error.detail === '' ? `${says}${value}` : `${says}${value}: ${error.detail}`;
}

function quote(value: unknown): string {
  if (value === undefined) return 'null';
  const text = printJson(value);
  // Go's encoder escapes these in JSON; plain strings it quotes another way.
  return typeof value === 'object'
    ? text.replaceAll(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)
    : text;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The list metadata of a Status: only an expired `continue` token puts something here. */
export interface StatusMetadata {
  readonly continue?: string;
}

/** Thrown anywhere below the wire; the wire turns it into a `Status` with its HTTP code. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  readonly metadata: StatusMetadata;

  /** A few errors of the real server have no reason: errors of its storage that nobody has given a name. */
  constructor(code: number, reason: string, message: string, details?: StatusDetails, metadata: StatusMetadata = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
  }

  toJSON(): Record<string, unknown> {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details && { details: this.details }),
      code: this.code,
    };
  }
}

export interface Named {
  readonly group: string;
  /** The plural, as the real server names it in NotFound, AlreadyExists and Conflict. */
  readonly plural: string;
  /** The kind, as the real server names it in Invalid. */
  readonly kind: string;
}

const qualified = (named: Named) => (named.group === '' ? named.plural : `${named.plural}.${named.group}`);

export const badRequest = (message: string) => new StatusError(400, 'BadRequest', message);

/** What the real server answers for a path that leads nowhere. */
export const noSuchPath = () =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = () =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const forbidden = (named: Named, name: string, why: string, causes?: readonly StatusCause[]) =>
  new StatusError(403, 'Forbidden', `${qualified(named)} "${name}" is forbidden: ${why}`, {
    ...details(named, name),
    ...(causes && { causes }),
  });

/** An error of the server itself, or one that the real server does not tell from its own. */
export const unnamed = (message: string) => new StatusError(500, '', message);

export const internalError = (message: string) =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

export const notFound = (named: Named, name: string) =>
  new StatusError(404, 'NotFound', `${qualified(named)} "${name}" not found`, details(named, name));

export const alreadyExists = (named: Named, name: string) =>
  new StatusError(409, 'AlreadyExists', `${qualified(named)} "${name}" already exists`, details(named, name));

export const conflict = (named: Named, name: string, why: string) =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(named)} "${name}": ${why}`,
    details(named, name),
  );

export const expired = (message: string) => new StatusError(410, 'Expired', message);

/** 422 with every error as a cause. */
export function invalid(named: Named, name: string, errors: readonly FieldError[]): StatusError {
  const lines = errors.map((error) => `${error.field}: ${messageOf(error)}`);
  const list = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const kind = named.group === '' ? named.kind : `${named.kind}.${named.group}`;
  return new StatusError(422, 'Invalid', `${kind} "${name}" is invalid: ${list}`, {
    ...(name !== '' && { name }),
    ...(named.group !== '' && { group: named.group }),
    kind: named.kind,
    causes: errors.map((error) => ({
      reason: WORDS[error.type].reason,
      message: messageOf(error),
      field: error.field,
    })),
  });
}

function details(named: Named, name: string): StatusDetails {
  return { name, ...(named.group !== '' && { group: named.group }), kind: named.plural };
}
