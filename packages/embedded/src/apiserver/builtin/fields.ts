/**
 * Reading and changing plain JSON. What arrives here has passed the decoder, so a field is absent or of its declared
 * type; null counts as absent, as it does for Go's decoder.
 */
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';

export function valueAt(value: unknown, ...path: readonly string[]): Json | undefined {
  let current: unknown = value;
  for (const name of path) current = isObject(current) ? current[name] : undefined;
  return isJson(current) ? current : undefined;
}

/** Empty when absent. */
export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

/** Empty when absent. */
export function listAt(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return isList(found) ? found : [];
}

export function objectsAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  return listAt(value, ...path).filter(isObject);
}

/** Empty when absent, as Go has it. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Whatever scalar is there, as it is printed; empty when absent. */
export function shownAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'object' || found === undefined ? '' : String(found);
}

/** The texts of a list. */
export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === 'string');
}

/** Near enough to tell whether it is in a range. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'bigint' ? Number(found) : typeof found === 'number' ? found : undefined;
}

/** A map of texts: labels, annotations. */
export const textsOf = (map: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(map).map((key) => [key, shownAt(map, key)]));

export const isAbsent = (value: Json | undefined) => value === undefined || value === null;

/** Sets the fields that are absent. */
export function fill(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([name]) => isAbsent(object[name]));
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** Changes a field that is an object; an absent one is left alone. */
export function edit(object: JsonObject, name: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const value = object[name];
  return isObject(value) ? { ...object, [name]: change(value) } : object;
}

/** Changes the objects of a list; an absent list is left alone. */
export function editEach(object: JsonObject, name: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const list = object[name];
  if (!isList(list)) return object;
  return { ...object, [name]: list.map((item) => (isObject(item) ? change(item) : item)) };
}

export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Whether two values mean the same: order of fields does not count, absent and null are one. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (isAbsent(a) || isAbsent(b)) return isAbsent(a) && isAbsent(b);
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (isObject(a) && isObject(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSame(a[name], b[name]));
  }
  return a === b;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isJson(value: unknown): value is Json {
  return value !== undefined && typeof value !== 'function';
}
