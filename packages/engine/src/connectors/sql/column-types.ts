import { decodedString } from './json-fields.ts';

/** What a column must be to hold the values that were seen, in words of no particular database. */
export type ColumnType = 'boolean' | 'integer' | 'decimal' | 'double' | 'timestamp' | 'text' | 'json';

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+\.\d+$/;
/** RFC 3339 with an offset: without one it is a text that only looks like a moment. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;
const MAX_INTEGER = 2n ** 63n - 1n;

/** By the text of a JSON value. Undefined: null, which fits into everything. */
export function columnTypeOf(json: string): ColumnType | undefined {
  switch (json.charAt(0)) {
    case 'n':
      return undefined;
    case 't':
    case 'f':
      return 'boolean';
    case '"':
      return TIMESTAMP.test(decodedString(json) ?? '') ? 'timestamp' : 'text';
    case '{':
    case '[':
      return 'json';
    default:
      return numberTypeOf(json);
  }
}

function numberTypeOf(json: string): ColumnType {
  if (INTEGER.test(json)) {
    const value = BigInt(json);
    return value <= MAX_INTEGER && value >= -MAX_INTEGER - 1n ? 'integer' : 'decimal';
  }
  // An exponent is how programs print binary floating point; digits alone are meant as they stand.
  return DECIMAL.test(json) ? 'decimal' : 'double';
}

/** The narrowest type that holds values of both without changing one. */
export function widened(a: ColumnType | undefined, b: ColumnType | undefined): ColumnType | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  if (a === 'json' || b === 'json') return 'json';
  return NUMBERS.has(a) && NUMBERS.has(b) ? 'decimal' : 'text';
}

const NUMBERS: ReadonlySet<ColumnType> = new Set(['integer', 'decimal', 'double']);

/** One type for each key that any of the objects has, in the order of their first appearance. Undefined: always null. */
export function inferColumns(
  objects: Iterable<ReadonlyMap<string, string>>,
): ReadonlyMap<string, ColumnType | undefined> {
  const types = new Map<string, ColumnType | undefined>();
  for (const object of objects)
    for (const [key, json] of object) types.set(key, widened(types.get(key), columnTypeOf(json)));
  return types;
}
