import { entriesOf, isArray, isObject, type Json, type JsonObject, ObjectBuilder } from '../json/index.ts';
import { overDocuments } from './document.ts';
import type { Transform } from './transform.ts';

/** Documents of one pipeline have few different keys; hostile ones may have any number. */
const MAX_REMEMBERED = 10_000;

/** Every key, of the root alone or all the way down. Of two that become equal the last one's value wins. */
export function renameKeys(rename: (key: string) => string, deep: boolean): Transform {
  const remembered = new Map<string, string>();
  const renamed = (key: string): string => {
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const name = rename(key);
    if (remembered.size < MAX_REMEMBERED) remembered.set(key, name);
    return name;
  };
  const renameObject = (object: JsonObject): Json => {
    const result = new ObjectBuilder();
    let isChanged = false;
    for (const [key, value] of entriesOf(object)) {
      const newKey = renamed(key);
      const newValue = deep ? renameAll(value) : value;
      isChanged ||= newKey !== key || newValue !== value;
      result.set(newKey, newValue);
    }
    return isChanged ? result.build() : object;
  };
  const renameAll = (value: Json): Json => {
    if (isObject(value)) return renameObject(value);
    if (!isArray(value)) return value;
    const items = value.map(renameAll);
    return items.some((item, index) => item !== value[index]) ? items : value;
  };
  return overDocuments((document) => (deep || isObject(document) ? renameAll(document) : document));
}
