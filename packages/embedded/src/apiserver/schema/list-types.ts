import { printJson } from '../exact-json.ts';
import type { FieldError } from '../status.ts';
import { child, duplicate, indexed, invalidValue, keyed } from './field-errors.ts';
import { isObject, type Schema } from './schema.ts';

/** Items of a `set` and the keys of a `map` list may be there once only; each duplicate is reported once. */
export function validateListTypes(schema: Schema, value: unknown, path = ''): readonly FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const inside = items ? value.flatMap((item, index) => validateListTypes(items, item, indexed(path, index))) : [];
    return [...validateList(schema, value, path), ...inside];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const property = schema.property(name);
    if (!property) return [];
    const isDeclared = Object.hasOwn(schema.node.properties ?? {}, name);
    return validateListTypes(property, member, isDeclared ? child(path, name) : keyed(path, name));
  });
}

function validateList(schema: Schema, list: readonly unknown[], path: string): readonly FieldError[] {
  if (schema.node['x-kubernetes-list-type'] === 'set') {
    return duplicatesIn(list).map((index) => duplicate(indexed(path, index), list[index]));
  }
  if (schema.node['x-kubernetes-list-type'] !== 'map') return [];
  const stranger = list.findIndex((item) => item !== null && !isObject(item));
  if (stranger >= 0) {
    const detail = 'must be an object for an array of list-type map';
    return [invalidValue(indexed(path, stranger), list[stranger], detail)];
  }
  const names = schema.node['x-kubernetes-list-map-keys'] ?? [];
  const keys = list.map((item) => {
    const present = names.filter((name) => isObject(item) && Object.hasOwn(item, name));
    return Object.fromEntries(present.map((name) => [name, isObject(item) ? item[name] : undefined]));
  });
  return duplicatesIn(keys).map((index) => duplicate(indexed(path, index), keys[index]));
}

/** The first repetition of each value. */
function duplicatesIn(list: readonly unknown[]): readonly number[] {
  const seen = new Map<string, number>();
  return list.flatMap((item, index) => {
    const text = canonical(item);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 2 ? [index] : [];
  });
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return printJson(value);
  const members = Object.keys(value).toSorted();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}
