/** The findings of validation, in the words of `k8s.io/apimachinery/pkg/util/validation/field`. */
import type { FieldError } from '../status.ts';

export type Findings = Iterable<FieldError>;

export const required = (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail });

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  detail,
  value: value ?? null,
});

export const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail });

export const duplicate = (field: string, value: unknown): FieldError => ({
  type: 'Duplicate',
  field,
  detail: '',
  value,
});

export const notFound = (field: string, value: unknown): FieldError => ({ type: 'NotFound', field, detail: '', value });

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  detail: `supported values: ${supported.map((one) => `"${one}"`).join(', ')}`,
  value,
});

/** Zero is allowed, absent too. */
export function* notNegative(field: string, value: number | undefined): Findings {
  if (value !== undefined && value < 0) yield invalid(field, value, 'must be greater than or equal to 0');
}

export function* oneOf(field: string, value: string, supported: readonly string[]): Findings {
  if (!supported.includes(value)) yield notSupported(field, value, supported);
}

export function* portNumber(field: string, port: number): Findings {
  if (port < 1 || port > 65535) yield invalid(field, port, 'must be between 1 and 65535, inclusive');
}

export function* unchanged(field: string, value: unknown, isUnchanged: boolean): Findings {
  if (!isUnchanged) yield invalid(field, value, 'field is immutable');
}
