import { plainDecimal, spellingOf } from './decimal.ts';
import { printJson } from './print.ts';
import { isNumber, type Json } from './value.ts';

/** The text of a value, as conditions compare it and masks measure it: null has none, an object is printed. */
export function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (isNumber(value)) return plainDecimal(spellingOf(value));
  return typeof value === 'boolean' ? String(value) : printJson(value);
}
