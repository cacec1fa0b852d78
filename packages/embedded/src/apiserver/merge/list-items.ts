import { isObject, type Json } from '../schema/schema.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import type { ListShape } from './shape.ts';

/** What an item of a set or a keyed list is called, or why it can have no name. */
export type ItemName = { readonly element: PathElement } | { readonly error: string };

export function nameOf(item: Json, list: ListShape): ItemName {
  return list.keys.length > 0 ? nameByKeys(item, list) : nameByValue(item);
}

function nameByKeys(item: Json, list: ListShape): ItemName {
  if (item === null) return { error: 'associative list with keys may not have a null element' };
  if (!isObject(item)) return { error: 'associative list with keys may not have non-map elements' };
  const keys = list.keys.flatMap((name) => {
    const value = Object.hasOwn(item, name) ? item[name] : list.keyDefault(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (keys.length > 0) return { element: keyElement(keys) };
  const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
  return {
    error: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  };
}

function nameByValue(item: Json): ItemName {
  if (isObject(item)) return { error: "associative list without keys has an element that's a map type" };
  if (Array.isArray(item)) return { error: 'not supported: associative list with lists as elements' };
  if (item === null) return { error: "associative list without keys has an element that's an explicit null" };
  return { element: valueElement(item) };
}

/** The items under their names, in order. Stored objects may hold a name twice; what has no name is left out. */
export function itemsByName(items: readonly Json[], list: ListShape): Map<PathElement, readonly Json[]> {
  const named = new Map<PathElement, readonly Json[]>();
  for (const item of items) {
    const name = nameOf(item, list);
    if ('element' in name) named.set(name.element, [...(named.get(name.element) ?? []), item]);
  }
  return named;
}
