/**
 * JSON with whole numbers of any size: peer ids may exceed 2^53, and a client that loses their last digits must meet a
 * server that keeps them.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const parseJson = (text: string): Json => JSON.parse(text, exact);

function exact(_: string, value: Json, { source }: { readonly source?: string }): Json {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

export const printJson = (value: Json | object): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member));

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object at a key; empty if there is none. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const member = value[key];
  return isObject(member) ? member : {};
}

export const arrayAt = (value: JsonObject, key: string): readonly Json[] => {
  const member = value[key];
  return Array.isArray(member) ? member : [];
};

export function numberAt(value: JsonObject, key: string): number | undefined {
  const member = value[key];
  return typeof member === 'number' ? member : undefined;
}

export function stringAt(value: JsonObject, key: string): string | undefined {
  const member = value[key];
  return typeof member === 'string' ? member : undefined;
}

/** An object without the keys that have no value. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) kept[key] = value;
  return kept;
}
