/** Reading and changing objects, whichever form they have. Nothing here changes what it is given. */
import { type Json, type JsonObject, OrderedObject } from './value.ts';

export const EMPTY_OBJECT: JsonObject = Object.freeze({});

export function get(object: JsonObject, key: string): Json | undefined {
  if (object instanceof OrderedObject) return object.members.get(key);
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export const entriesOf = (object: JsonObject): Iterable<readonly [string, Json]> =>
  object instanceof OrderedObject ? object.members : Object.entries(object);

export const keysOf = (object: JsonObject): Iterable<string> =>
  object instanceof OrderedObject ? object.members.keys() : Object.keys(object);

export function isEmpty(object: JsonObject): boolean {
  for (const _ of keysOf(object)) return false;
  return true;
}

/** There is this one at most. */
export function hasOnly(object: JsonObject, key: string): boolean {
  for (const name of keysOf(object)) if (name !== key) return false;
  return true;
}

/** A known key keeps its place, a new one comes last. */
export function withMember(object: JsonObject, key: string, value: Json): JsonObject {
  if (object instanceof OrderedObject) return new OrderedObject(new Map(object.members).set(key, value));
  if (isOrdinary(key)) return { ...object, [key]: value };
  return new ObjectBuilder(object).set(key, value).build();
}

export function withoutMember(object: JsonObject, key: string): JsonObject {
  if (get(object, key) === undefined) return object;
  const left = new ObjectBuilder();
  for (const [name, value] of entriesOf(object)) if (name !== key) left.set(name, value);
  return left.build();
}

/** The members of `over` win; a key that both have keeps its place. */
export function merge(base: JsonObject, over: JsonObject): JsonObject {
  const isPlain = !(base instanceof OrderedObject) && !(over instanceof OrderedObject);
  if (isPlain) return { ...base, ...over };
  const merged = new ObjectBuilder(base);
  for (const [key, value] of entriesOf(over)) merged.set(key, value);
  return merged.build();
}

/** Makes an object of its members one by one, plain as long as that keeps their order. Of equal keys the last one wins. */
export class ObjectBuilder {
  #plain: Record<string, Json>;
  #ordered: Map<string, Json> | undefined;

  constructor(start: JsonObject = EMPTY_OBJECT) {
    this.#plain = {};
    if (start instanceof OrderedObject) this.#ordered = new Map(start.members);
    else this.#plain = { ...start };
  }

  set(key: string, value: Json): this {
    if (this.#ordered === undefined && !isOrdinary(key)) this.#ordered = new Map(Object.entries(this.#plain));
    if (this.#ordered === undefined) this.#plain[key] = value;
    else this.#ordered.set(key, value);
    return this;
  }

  build(): JsonObject {
    return this.#ordered === undefined ? this.#plain : new OrderedObject(this.#ordered);
  }
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** Neither is moved by JavaScript nor means something to it. */
function isOrdinary(key: string): boolean {
  const first = key.charCodeAt(0);
  return !(first >= 48 && first <= 57 && INDEX.test(key)) && key !== '__proto__';
}
