import {
  entriesOf,
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  ObjectBuilder,
} from '../json/index.ts';
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
  return overDocuments((document) => {
    if (!deep) return isObject(document) ? renameMembers(document, renamed) : document;
    return isObject(document) || isArray(document) ? renameAll(document, renamed) : document;
  });
}

function renameMembers(object: JsonObject, renamed: (key: string) => string): JsonObject {
  const members = new ObjectBuilder();
  let isChanged = false;
  for (const [key, value] of entriesOf(object)) {
    const name = renamed(key);
    isChanged ||= name !== key;
    members.set(name, value);
  }
  return isChanged ? members.build() : object;
}

/** An object or array that is being renamed: what is left of it, and what has become of the rest. */
interface Open {
  readonly original: JsonObject | JsonArray;
  readonly left: Iterator<readonly [string | number, Json]>;
  readonly members: ObjectBuilder;
  readonly items: Json[];
  /** Where the member goes that is being renamed now. */
  name: string;
  isChanged: boolean;
}

/** Not by recursion: it would take most of the stack for the deepest documents. */
function renameAll(root: JsonObject | JsonArray, renamed: (key: string) => string): Json {
  const open: Open[] = [opened(root)];
  for (;;) {
    const container = open.at(-1);
    if (container === undefined) return root;
    const next = container.left.next();
    if (next.done !== true) {
      const [key, value] = next.value;
      if (typeof key === 'string') {
        container.name = renamed(key);
        container.isChanged ||= container.name !== key;
      }
      if (isObject(value) || isArray(value)) open.push(opened(value));
      else add(container, value);
      continue;
    }
    open.pop();
    const { original, isChanged, members, items } = container;
    const result = !isChanged ? original : isArray(original) ? items : members.build();
    const parent = open.at(-1);
    if (parent === undefined) return result;
    parent.isChanged ||= isChanged;
    add(parent, result);
  }
}

const opened = (original: JsonObject | JsonArray): Open => ({
  original,
  left: (isArray(original) ? original.entries() : entriesOf(original))[Symbol.iterator](),
  members: new ObjectBuilder(),
  items: [],
  name: '',
  isChanged: false,
});

function add({ original, members, items, name }: Open, value: Json): void {
  if (isArray(original)) items.push(value);
  else members.set(name, value);
}
