/** JSON in which whole numbers keep all their digits: the id of a peer may be larger than what a number holds. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A whole number that a number can't hold becomes its digits. */
export const parseJson = (text: string): Json => JSON.parse(text, exact);

function exact(_: string, value: Json, { source }: { readonly source?: string }): Json {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^\d+$/.test(source) ? source : value;
}

/** Every number as it is spelled, for what is sent on: points may have larger and longer ones than a number holds. */
export const parseVerbatim = (text: string): Json => JSON.parse(text, verbatim);

function verbatim(_: string, value: Json, { source }: { readonly source?: string }): Json {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  const raw = JSON.rawJSON(source);
  return isRaw(raw) ? raw : value;
}

const isRaw = (value: object): value is { readonly rawJSON: string } => 'rawJSON' in value;

/** The id of a peer as the server wants it: a number, with all its digits. */
export const rawId = (id: string): object => JSON.rawJSON(id);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectAt = (value: Json | undefined, key: string): JsonObject => {
  const member = isObject(value) ? value[key] : undefined;
  return isObject(member) ? member : {};
};

export const listAt = (value: Json | undefined, key: string): readonly Json[] => {
  const member = isObject(value) ? value[key] : undefined;
  return Array.isArray(member) ? member : [];
};

export const numberAt = (value: Json | undefined, key: string): number | undefined => {
  const member = isObject(value) ? value[key] : undefined;
  return typeof member === 'number' ? member : undefined;
};

export const textAt = (value: Json | undefined, key: string): string | undefined => {
  const member = isObject(value) ? value[key] : undefined;
  return typeof member === 'string' ? member : undefined;
};

/** An id, whichever way it was written. */
export const idAt = (value: Json | undefined, key: string): string | undefined => {
  const member = isObject(value) ? value[key] : undefined;
  return typeof member === 'number' || typeof member === 'string' ? String(member) : undefined;
};
