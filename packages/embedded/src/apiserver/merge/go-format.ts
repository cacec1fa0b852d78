import { printJson } from '../exact-json.ts';
import { isObject, type Json } from '../schema/schema.ts';

/**
 * The real server prints offending values with Go's `fmt`, so its messages can only be met by printing the same way.
 */

/** `%v`: `map[a:1 b:[x y]]`. */
export function goValue(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return printJson(value);
  if (!isObject(value)) return `[${value.map(goValue).join(' ')}]`;
  const entries = sortedEntries(value).map(([key, item]) => `${key}:${goValue(item)}`);
  return `map[${entries.join(' ')}]`;
}

/** `%#v`: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `${goTypeName(value)}{${value.map(goSyntax).join(', ')}}`;
  if (!isObject(value)) return printJson(value);
  const entries = sortedEntries(value).map(([key, item]) => `${JSON.stringify(key)}:${goSyntax(item)}`);
  return `${goTypeName(value)}{${entries.join(', ')}}`;
}

/** `%T`. */
export function goTypeName(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** `json.Marshal`: keys sorted, and escaped what could end a script tag. */
export function goJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (!isObject(value)) return printJson(value).replaceAll(/[<>&\u2028\u2029]/g, escaped);
  return `{${sortedEntries(value)
    .map(([key, item]) => `${goJson(key)}:${goJson(item)}`)
    .join(',')}}`;
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** How Go's JSON decoder names what it found: `array`, `object`, `number`. */
export function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const sortedEntries = (value: Readonly<Record<string, Json>>) =>
  Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
