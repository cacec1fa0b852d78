/** What is wrong with a field, in the format in which Kubernetes says it. */
export interface FieldError {
  readonly type: 'Required value' | 'Invalid value' | 'Unsupported value' | 'Duplicate value' | 'Forbidden';
  /** `spec.source.kafka.topic` */
  readonly field: string;
  readonly detail: string;
  /** What was given. Absent where it may be a secret, or is too much to be quoted. */
  readonly value?: Quotable;
}

export type Quotable = string | number | boolean | null | readonly [];

export const required = (field: string, detail: string): FieldError => ({ type: 'Required value', field, detail });
export const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail });
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid value',
  field,
  detail,
  ...quoted(value),
});
export const unsupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'Unsupported value',
  field,
  detail: `supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
  ...quoted(value),
});
/** `spec.source.type: Unsupported value: "x": supported values: "kafka", "postgresql"` */
export function describeError({ field, type, value, detail }: FieldError): string {
  return [field, type, ...(value === undefined ? [] : [JSON.stringify(value)]), detail].join(': ');
}

/** All of them as one message: a single one bare, several in brackets; none is the empty text. */
export function describeErrors(errors: readonly FieldError[]): string {
  const lines = [...new Set(errors.map(describeError))];
  return lines.length > 1 ? `[${lines.join(', ')}]` : (lines[0] ?? '');
}

const LONGEST = 64;

/** Objects and lists are not quoted: they may have secrets in them. Nor is what stands before the host of a URL. */
function quoted(value: unknown): { readonly value?: Quotable } {
  if (value === undefined || value === null) return { value: null };
  if (typeof value === 'string') return { value: shortened(withoutUser(value)) };
  if (typeof value === 'number' || typeof value === 'boolean') return { value };
  return Array.isArray(value) && value.length === 0 ? { value: [] } : {};
}

const shortened = (text: string) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);

/** Up to the last @: a password that was not encoded may have any character in it. */
export const withoutUser = (text: string) => text.replace(/\/\/\S*@/g, '//…@');
