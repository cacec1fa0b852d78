/**
 * JSON as a server in Go reads it: a whole number of 64 bits is exact, any other number a float. Numbers hold whole
 * numbers up to 2^53; one beyond that would be printed with other digits is a bigint here. Nothing else is, so that
 * ordinary objects never meet one.
 */
import type { Json } from './schema/schema.ts';

/** Fewer digits always fit into a number. Most texts have no such run, and one look is all they pay. */
const MANY_DIGITS = /\d{16}/;

export const mayExceedNumbers = (text: string) => MANY_DIGITS.test(text);

export function parseJson(text: string): Json {
  if (mayExceedNumbers(text)) return JSON.parse(text, (_, value: Json, { source }) => exact(value, source));
  const value: Json = JSON.parse(text);
  return value;
}

function exact(value: Json, source: string | undefined): Json {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? whole(BigInt(source)) : value;
}

export const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** A whole number in the one form it has here. */
export function whole(value: bigint): number | bigint {
  const number = Number(value);
  const isInt64 = BigInt.asIntN(64, value) === value;
  return isInt64 && String(number) !== String(value) ? value : number;
}

export function printJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // A bigint. Asking each member what it is would make every text several times as dear.
    return JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member,
    );
  }
}
