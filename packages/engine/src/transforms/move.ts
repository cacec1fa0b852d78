import { entriesOf, get, hasOnly, isObject, type Json, type JsonObject, ObjectBuilder } from '../json/index.ts';
import { type Path, removeAt, updateAt } from './path.ts';

/**
 * Takes a value out, and objects that held nothing else with it, and puts it where it shall be: in the place of what went
 * if the object is the same, else at the end. Both are paths to single values.
 */
export function move(document: Json, from: Path, to: Path): Json {
  const value = from.get(document);
  const oldKeys = keysOf(from);
  const newKeys = keysOf(to);
  const isSame = oldKeys.length === newKeys.length && oldKeys.every((key, at) => key === newKeys[at]);
  if (value === undefined || isSame) return document;
  const depth = depthOfRemoval(document, oldKeys);
  const oldKey = oldKeys[depth] ?? '';
  const newKey = newKeys[depth] ?? '';
  const staysInObject = newKeys.length === depth + 1 && newKeys.slice(0, -1).every((key, at) => key === oldKeys[at]);
  let isRenamed = false;
  const changed = updateAt(document, from.segments.slice(0, depth), (parent) => {
    isRenamed = staysInObject && isObject(parent);
    return isRenamed && isObject(parent) ? renameMember(parent, oldKey, newKey, value) : parent;
  });
  return isRenamed ? changed : to.set(removeAt(document, from.segments.slice(0, depth + 1)), value);
}

const keysOf = (path: Path): readonly string[] =>
  path.segments.map((segment) => (segment.kind === 'key' ? segment.key : ''));

/** How deep the highest member is that goes: the value itself, or an object that would be left empty. */
function depthOfRemoval(document: Json, keys: readonly string[]): number {
  let depth = 0;
  let parent: Json | undefined = document;
  for (const [at, key] of keys.entries()) {
    // An array, or an object with more than this member, stays; what is above it does, too.
    if (!isObject(parent)) return keys.length - 1;
    if (!hasOnly(parent, key)) depth = at;
    parent = get(parent, key);
  }
  return depth;
}

function renameMember(object: JsonObject, from: string, to: string, value: Json): JsonObject {
  const members = new ObjectBuilder();
  for (const [key, member] of entriesOf(object)) {
    if (key === from) members.set(to, value);
    else if (key !== to) members.set(key, member);
  }
  return members.build();
}
