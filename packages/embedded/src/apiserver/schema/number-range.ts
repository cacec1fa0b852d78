import type { FieldError } from '../status.ts';
import { goFloat, invalidValue } from './field-errors.ts';
import type { JsonSchema } from './schema.ts';

/** Bounds, multiples and the range of the format. Integers and floats are compared and printed as their Go types. */
export function validateNumber(
  node: JsonSchema,
  types: readonly string[],
  format: string,
  value: number | bigint,
  path: string,
): readonly FieldError[] {
  const type = types.length === 1 && (types[0] === 'integer' || types[0] === 'number') ? types[0] : '';
  const outside = (number: number | bigint, what: string) => rangeError(number, type, format, what, path);
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  /** A bound as the value's own Go type sees it: an integer is compared with the bound cut to an integer. */
  const bound = (limit: number) => (isInteger && fits(limit, type, format) ? Math.trunc(limit) : limit);
  const print = (limit: number) =>
    isInteger && fits(limit, type, format) ? String(Math.trunc(limit)) : goFloat(limit);
  const says = (text: string, limit: number) => invalidValue(path, value, `${path} in body ${text} ${print(limit)}`);

  // To Go a bound is a float, however many digits it was written with.
  const bounds: readonly (number | bigint | undefined)[] = [node.multipleOf, node.minimum, node.maximum];
  const [multipleOf, minimum, maximum] = bounds.map((limit) => (limit === undefined ? undefined : Number(limit)));
  const errors = [...outside(value, 'Checked')];
  if (multipleOf !== undefined) {
    errors.push(...outside(multipleOf, 'MultipleOf'));
    if (!isMultiple(Number(value), bound(multipleOf))) errors.push(says('should be a multiple of', multipleOf));
  }
  if (minimum !== undefined) {
    errors.push(...outside(minimum, 'Minimum boundary'));
    const least = bound(minimum);
    if (node.exclusiveMinimum && value <= least) errors.push(says('should be greater than', minimum));
    else if (value < least) errors.push(says('should be greater than or equal to', minimum));
  }
  if (maximum !== undefined) {
    errors.push(...outside(maximum, 'Maximum boundary'));
    const most = bound(maximum);
    if (node.exclusiveMaximum && value >= most) errors.push(says('should be less than', maximum));
    else if (value > most) errors.push(says('should be less than or equal to', maximum));
  }
  return errors;
}

function fits(value: number | bigint, type: string, format: string): boolean {
  if (typeof value === 'bigint') return format !== 'int32';
  if (type === 'integer') {
    if (!Number.isInteger(value)) return false;
    return format === 'int32' ? value >= -(2 ** 31) && value < 2 ** 31 : value >= -(2 ** 63) && value < 2 ** 63;
  }
  return format !== 'float' || Math.abs(value) < 3.4028235677973366e38;
}

function rangeError(value: number | bigint, type: string, format: string, what: string, path: string): FieldError[] {
  if (fits(value, type, format)) return [];
  const kind = format === '' ? `${type} (default format)` : `${type} with format ${format}`;
  return [invalidValue('', '', `${what} value must be of type ${kind} in ${path}`)];
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}
