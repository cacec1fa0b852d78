import { isNumeric, parseJson, printJson } from '../exact-json.ts';
import { isObject, type Json } from '../schema/schema.ts';
import { goJson } from './go-format.ts';

/**
 * One step of a field path, in the spelling of `FieldsV1`: `f:name` for a field or a map's key, `k:{"name":"x"}` for an
 * item of a keyed list, `v:"x"` for an item of a set, `i:0` for a place in a list. Always canonical (see
 * `parsePathElement`), so two elements are the same exactly when their texts are.
 */
export type PathElement = string;

export type FieldPath = readonly PathElement[];

export const fieldElement = (name: string): PathElement => `f:${name}`;

export const valueElement = (value: Json): PathElement => `v:${goJson(value)}`;

export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): PathElement {
  const fields = keys.toSorted(([a], [b]) => compareTexts(a, b));
  return `k:{${fields.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(',')}}`;
}

/** The field's name, for elements that are one. */
export const fieldNameOf = (element: PathElement): string | undefined =>
  element.startsWith('f:') ? element.slice(2) : undefined;

/** Undefined for what is no path element; the canonical spelling otherwise. */
export function parsePathElement(text: string): PathElement | undefined {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'i:':
      return /^-?\d+$/.test(rest) ? text : undefined;
    case 'v:': {
      const value = parsed(rest);
      return value === undefined ? undefined : valueElement(value);
    }
    case 'k:': {
      const keys = parsed(rest);
      return isObject(keys) ? keyElement(Object.entries(keys)) : undefined;
    }
    default:
      return undefined;
  }
}

/** Fields first, then keyed items, set items and indexes; numbers before texts. The order of the real server. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kind = 'fkvi'.indexOf(a.charAt(0)) - 'fkvi'.indexOf(b.charAt(0));
  if (kind !== 0) return kind;
  if (a.startsWith('f:')) return compareTexts(a, b);
  const left = parsed(a.slice(2));
  const right = parsed(b.slice(2));
  return a.startsWith('k:') ? compareKeys(left, right) : compareValues(left, right);
}

function compareKeys(left: Json | undefined, right: Json | undefined): number {
  const a = isObject(left) ? Object.entries(left) : [];
  const b = isObject(right) ? Object.entries(right) : [];
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareTexts(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const VALUE_ORDER = ['number', 'bigint', 'string', 'boolean'];

function compareValues(a: Json | undefined, b: Json | undefined): number {
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : Number(a > b);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  const kind = VALUE_ORDER.indexOf(typeof a) - VALUE_ORDER.indexOf(typeof b);
  return kind === 0 ? Number(a) - Number(b) : kind;
}

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A path as messages show it: `.spec.containers[name="main"].image`. */
export const printPath = (path: FieldPath): string => path.map(printElement).join('');

export function printElement(element: PathElement): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('i:')) return `[${rest}]`;
  const value = parsed(rest);
  if (element.startsWith('v:')) return `[=${printJson(value)}]`;
  const keys = isObject(value) ? Object.entries(value) : [];
  return `[${keys.map(([name, key]) => `${name}=${printJson(key)}`).join(',')}]`;
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
