import { isObject, type Json } from '../schema/schema.ts';

/**
 * The fields of a map; none for what is no map. Users choose the keys of labels and of data: in a plain object,
 * `constructor` would be found where nobody put it, and `__proto__` would be lost.
 */
export const fieldsByName = (value: Json | undefined): Map<string, Json> =>
  new Map(isObject(value) ? Object.entries(value) : []);
