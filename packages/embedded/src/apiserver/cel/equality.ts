import { Duration } from '@marcbachmann/cel-js/evaluator';

/** Values that compare themselves: the kinds our libraries add. */
export interface Comparable {
  equals(other: unknown): boolean;
}

const isComparable = (value: unknown): value is Comparable =>
  typeof value === 'object' && value !== null && 'equals' in value && typeof value.equals === 'function';

/** Equality of CEL values as functions see them, numbers of different types included. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isInteger(b) && a === BigInt(b);
  if (typeof a === 'number' && typeof b === 'bigint') return equalValues(b, a);
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Duration && b instanceof Duration) return a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (isComparable(a)) return a.equals(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalValues(item, b[index]));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && equalValues(value, b.get(key)));
  }
  return false;
}
