/**
 * Errors and paths the way `k8s.io/apimachinery/pkg/util/validation/field` writes them. A path is its text; the empty
 * path is the object itself, which the real server prints as `<nil>`.
 */
import type { FieldError, FieldErrorType } from '../status.ts';

export const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
export const keyed = (path: string, key: string): string => `${path}[${key}]`;
export const indexed = (path: string, index: number): string => `${path}[${index}]`;

const at = (path: string) => (path === '' ? '<nil>' : path);

const error = (type: FieldErrorType, path: string, detail: string): FieldError => ({ type, field: at(path), detail });

export const required = (path: string, detail = ''): FieldError => error('Required', path, detail);
export const forbidden = (path: string, detail: string): FieldError => error('Forbidden', path, detail);
export const internal = (path: string, detail: string): FieldError => error('Internal', path, detail);

export const invalidValue = (path: string, value: unknown, detail: string): FieldError => ({
  ...error('Invalid', path, detail),
  value,
});

export const typeInvalid = (path: string, value: unknown, detail: string): FieldError => ({
  ...error('TypeInvalid', path, detail),
  value,
});

export const duplicate = (path: string, value: unknown): FieldError => ({ ...error('Duplicate', path, ''), value });

export const notSupported = (path: string, value: unknown, supported: readonly string[]): FieldError => ({
  ...error('NotSupported', path, `supported values: ${supported.map((name) => JSON.stringify(name)).join(', ')}`),
  value,
});

export const tooLong = (path: string, most: number): FieldError =>
  error('TooLong', path, `may not be more than ${most} ${most === 1 ? 'byte' : 'bytes'}`);

export const tooMany = (path: string, actual: number, most: number): FieldError => ({
  ...error('TooMany', path, `must have at most ${most} ${most === 1 ? 'item' : 'items'}`),
  value: actual,
});

/** A float as Go's `%v` prints it: the shortest form, in exponents from 1e+06 on. */
export function goFloat(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const sign = power < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}
