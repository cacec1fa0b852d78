import type { ErrorType } from '../../message.ts';

export interface Trouble {
  readonly type: ErrorType;
  readonly isRetryable: boolean;
  /** A row is at fault: the others can be written without it. */
  readonly isAboutRow: boolean;
}

/** What went wrong between us and Trino, told apart by what helps. Its text names no secret and no value of a row. */
export class TrinoError extends Error implements Trouble {
  override readonly name = 'TrinoError';
  readonly type: ErrorType;
  readonly isRetryable: boolean;
  readonly isAboutRow: boolean;
  /** What Trino calls it, `TABLE_NOT_FOUND` for instance. Undefined: it said nothing. */
  readonly errorName: string | undefined;
  /** Trino's own words, which may quote the value at fault: for whoever gets the row, not for a log. */
  readonly detail: string;

  constructor(
    message: string,
    { type = 'unknown', isRetryable = false, isAboutRow = false, errorName, detail }: Partial<Trouble & Said> = {},
  ) {
    super(message);
    this.type = type;
    this.isRetryable = isRetryable;
    this.isAboutRow = isAboutRow;
    this.errorName = errorName;
    this.detail = detail ?? message;
  }
}

/** The same in Trino's own words: where they can quote nothing but the configuration. */
export const inFull = (error: TrinoError): TrinoError => new TrinoError(error.detail, error);

interface Said {
  readonly errorName: string | undefined;
  readonly detail: string;
}

const ofRow = (type: ErrorType): Trouble => ({ type, isRetryable: false, isAboutRow: true });
export const passing = (type: ErrorType): Trouble => ({ type, isRetryable: true, isAboutRow: false });
export const lasting = (type: ErrorType): Trouble => ({ type, isRetryable: false, isAboutRow: false });

/** By `errorName`, where the kind of the error (`errorType`) says too little. */
const NAMES: Readonly<Record<string, Trouble>> = {
  // What a value can't be cast to, and what no value can be.
  INVALID_CAST_ARGUMENT: ofRow('invalid_data'),
  INVALID_FUNCTION_ARGUMENT: ofRow('invalid_data'),
  INVALID_LITERAL: ofRow('invalid_data'),
  INVALID_JSON_LITERAL: ofRow('invalid_data'),
  JSON_INPUT_CONVERSION_ERROR: ofRow('invalid_data'),
  NUMERIC_VALUE_OUT_OF_RANGE: ofRow('invalid_data'),
  DIVISION_BY_ZERO: ofRow('invalid_data'),
  ICEBERG_INVALID_PARTITION_VALUE: ofRow('invalid_data'),
  ICEBERG_WRITER_DATA_ERROR: ofRow('invalid_data'),
  CONSTRAINT_VIOLATION: ofRow('constraint_violation'),
  // A statement that is too much as a whole: half of it may pass, and what never does is one row.
  SYNTAX_ERROR: ofRow('invalid_data'),
  QUERY_TEXT_TOO_LARGE: ofRow('invalid_data'),
  STACK_OVERFLOW: ofRow('invalid_data'),
  QUERY_EXCEEDED_COMPILER_LIMIT: ofRow('invalid_data'),
  COMPILER_ERROR: ofRow('invalid_data'),
  PAGE_TOO_LARGE: ofRow('invalid_data'),
  ICEBERG_TOO_MANY_OPEN_PARTITIONS: ofRow('invalid_data'),

  PERMISSION_DENIED: lasting('auth_error'),

  // User errors by name, but of other users, or of nobody.
  ABANDONED_QUERY: passing('timeout'),
  USER_CANCELED: passing('transient'),
  ADMINISTRATIVELY_KILLED: passing('transient'),
  TRANSACTION_CONFLICT: passing('transient'),
  CATALOG_UNAVAILABLE: passing('connection_error'),

  EXCEEDED_TIME_LIMIT: passing('timeout'),
  PAGE_TRANSPORT_TIMEOUT: passing('timeout'),
  OPTIMIZER_TIMEOUT: passing('timeout'),
  REMOTE_HOST_GONE: passing('connection_error'),
  PAGE_TRANSPORT_ERROR: passing('connection_error'),
  SERVER_SHUTTING_DOWN: passing('connection_error'),
  SERVER_STARTING_UP: passing('connection_error'),

  // Neither kind of error says so, but no patience helps.
  CONFIGURATION_INVALID: lasting('unknown'),
  EXCHANGE_MANAGER_NOT_CONFIGURED: lasting('unknown'),
  FUNCTION_IMPLEMENTATION_MISSING: lasting('unknown'),
};

/** Whose words quote names of tables, columns and users, never a value: these may go to a log. */
const SPEAKABLE: ReadonlySet<string> = new Set([
  'CATALOG_NOT_FOUND',
  'COLUMN_ALREADY_EXISTS',
  'COLUMN_NOT_FOUND',
  'DUPLICATE_COLUMN_NAME',
  'INVALID_COLUMN_REFERENCE',
  'MISSING_SCHEMA_NAME',
  'NOT_FOUND',
  'NOT_SUPPORTED',
  'PERMISSION_DENIED',
  'SCHEMA_NOT_FOUND',
  'TABLE_ALREADY_EXISTS',
  'TABLE_NOT_FOUND',
  'TYPE_MISMATCH',
  'TYPE_NOT_FOUND',
]);

/** The databases behind a catalog refuse rows in their own words, all under one name (`JDBC_ERROR`). */
const CONSTRAINT =
  /duplicate (?:key|entry)|unique (?:constraint|index)|constraint .*violat|violat.* constraint|cannot be null/i;

export interface QueryError {
  readonly message: string;
  readonly errorName: string;
  /** `USER_ERROR`, `INTERNAL_ERROR`, `INSUFFICIENT_RESOURCES` or `EXTERNAL` */
  readonly errorType: string;
}

/** An error that Trino reports of a query. */
export function queryTrouble({ message, errorName, errorType }: QueryError): TrinoError {
  const trouble = NAMES[errorName] ?? byType(errorType, message);
  const said = SPEAKABLE.has(errorName) ? `${message} (${errorName})` : `the statement failed (${errorName})`;
  return new TrinoError(said, { ...trouble, errorName, detail: `${message} (${errorName})` });
}

function byType(errorType: string, message: string): Trouble {
  if (errorType === 'USER_ERROR') return lasting('unknown');
  return CONSTRAINT.test(message) ? ofRow('constraint_violation') : passing('transient');
}
