import {
  EMPTY_OBJECT,
  entriesOf,
  get,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  keysOf,
  ObjectBuilder,
  withMember,
  withoutMember,
} from '../json/index.ts';
import { APPEND, ExpressionError, matchesPattern, parsePath, type Segment } from './path-syntax.ts';
import { ConfigError, TransformError } from './transform.ts';

/** Writing beyond the end of an array fills it with nulls; a typing error should not fill the memory. */
const MAX_WRITTEN_INDEX = 9999;

/** A field of documents, compiled. Nothing here changes a document: what differs is made anew, the rest is shared. */
export class Path {
  readonly text: string;
  readonly segments: readonly Segment[];
  /** It names at most one value of a document. */
  readonly isSingle: boolean;
  /** The last key or index: what a value is called that is taken out of its place. */
  readonly name: string;

  constructor(text: string) {
    this.text = text;
    this.segments = parsePath(text);
    this.isSingle = this.segments.every((segment) => segment.kind === 'key');
    this.name = this.segments.findLast((segment) => segment.kind === 'key')?.key ?? text;
  }

  /** `field` is where in the config it stands. */
  static compile(field: string, text: string): Path {
    return orConfigError(field, () => new Path(text));
  }

  /** One that can be set where it does not exist yet: it names one value. */
  static compileTarget(field: string, text: string): Path {
    const path = Path.compileSingle(field, text);
    if (path.segments.some((segment) => segment.kind === 'key' && (segment.index ?? 0) > MAX_WRITTEN_INDEX)) {
      throw new ConfigError(field, `'${text}': the highest index that can be written is ${MAX_WRITTEN_INDEX}`);
    }
    return path;
  }

  static compileSingle(field: string, text: string): Path {
    const path = Path.compile(field, text);
    if (path.isSingle) return path;
    throw new ConfigError(field, `'${text}' may name several values; here a path without '#', '*' and '?' is needed`);
  }

  /** The value; through `#` an array of those that exist; of the keys that match a pattern the first that leads to one. */
  get(root: Json | undefined): Json | undefined {
    return read(root, this.segments, 0);
  }

  /** As `get`, but for every key that matches a pattern, with the name each value has. */
  visit(root: Json, visitor: Visitor): void {
    visitNamed(root, this.segments, 0, this.name, visitor);
  }

  /** Every value it names is replaced by what `change` makes of it. */
  update(root: Json, change: (value: Json) => Json): Json {
    return updateAt(root, this.segments, change);
  }

  remove(root: Json): Json {
    return removeAt(root, this.segments);
  }

  /** Makes the objects and arrays on the way; a scalar in the way gives way. For paths of `compileTarget`. */
  set(root: Json, value: Json): Json {
    return this.#place(root, 0, value);
  }

  #place(parent: Json | undefined, at: number, value: Json): Json {
    const segment = this.segments[at];
    if (segment === undefined) return value;
    if (segment.kind !== 'key') throw new TransformError(`'${this.text}' names no single field to write to`);
    const { key, index } = segment;
    if (isObject(parent)) return withMember(parent, key, this.#place(get(parent, key), at + 1, value));
    if (isArray(parent) && index === undefined) {
      throw new TransformError(`'${this.text}' can't be set: '${key}' is no index, and an array is there`);
    }
    if (index === undefined) return withMember(EMPTY_OBJECT, key, this.#place(undefined, at + 1, value));
    const items: Json[] = isArray(parent) ? [...parent] : [];
    const position = index === APPEND ? items.length : index;
    while (items.length < position) items.push(null);
    items[position] = this.#place(items[position], at + 1, value);
    return items;
  }
}

/** Turns what is wrong in an expression into what is wrong in a config. */
export function orConfigError<T>(field: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof ExpressionError) throw new ConfigError(field, error.message);
    throw error;
  }
}

export const updateAt = (root: Json, segments: readonly Segment[], change: (value: Json) => Json): Json =>
  rebuild(root, segments, 0, change) ?? root;

export const removeAt = (root: Json, segments: readonly Segment[]): Json =>
  rebuild(root, segments, 0, () => undefined) ?? root;

function read(root: Json | undefined, segments: readonly Segment[], from: number): Json | undefined {
  let value = root;
  for (let at = from; at < segments.length && value !== undefined; at += 1) {
    const segment = segments[at];
    if (segment === undefined) break;
    if (segment.kind === 'key') {
      value = child(value, segment);
    } else if (segment.kind === 'pattern') {
      return isObject(value) ? readFirstMatch(value, segment.pattern, segments, at + 1) : undefined;
    } else {
      if (!isArray(value)) return undefined;
      if (at === segments.length - 1) return segment.isCount ? value.length : value;
      const found: Json[] = [];
      for (const item of value) {
        const inner = read(item, segments, at + 1);
        if (inner !== undefined) found.push(inner);
      }
      return found;
    }
  }
  return value;
}

function child(value: Json, { key, index }: Segment & { kind: 'key' }): Json | undefined {
  if (isObject(value)) return get(value, key);
  return isArray(value) && index !== undefined ? value[index] : undefined;
}

function readFirstMatch(
  object: JsonObject,
  pattern: Pattern,
  segments: readonly Segment[],
  from: number,
): Json | undefined {
  for (const [key, member] of entriesOf(object)) {
    const value = matchesPattern(pattern, key) ? read(member, segments, from) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function visitNamed(root: Json, segments: readonly Segment[], from: number, name: string, visitor: Visitor): void {
  let next = from;
  while (segments[next]?.kind === 'key') next += 1;
  const segment = segments[next];
  if (segment?.kind !== 'pattern') {
    const value = read(root, segments, from);
    if (value !== undefined) visitor(name, value);
    return;
  }
  const parent = read(root, segments.slice(0, next), from);
  if (!isObject(parent)) return;
  const isLast = next === segments.length - 1;
  for (const [key, value] of entriesOf(parent)) {
    if (!matchesPattern(segment.pattern, key)) continue;
    if (isLast) visitor(key, value);
    else visitNamed(value, segments, next + 1, name, visitor);
  }
}

type Pattern = (Segment & { kind: 'pattern' })['pattern'];

type Visitor = (name: string, value: Json) => void;

type Change = (value: Json) => Json | undefined;

/** The value with all that the path names changed; itself if nothing was; undefined if it is to go. */
function rebuild(value: Json, segments: readonly Segment[], at: number, change: Change): Json | undefined {
  const segment = segments[at];
  if (segment === undefined) return change(value);
  const next: Change = (inner) => rebuild(inner, segments, at + 1, change);
  if (segment.kind === 'key') {
    if (isObject(value)) return rebuildMember(value, segment.key, next);
    const { index } = segment;
    const isThere = isArray(value) && index !== undefined && index < value.length;
    return isThere ? rebuildItems(value, index, index + 1, next) : value;
  }
  if (segment.kind === 'each') return isArray(value) ? rebuildItems(value, 0, value.length, next) : value;
  return isObject(value) ? rebuildMatches(value, segment.pattern, next) : value;
}

function rebuildMember(object: JsonObject, key: string, change: Change): JsonObject {
  const before = get(object, key);
  if (before === undefined) return object;
  const after = change(before);
  if (after === before) return object;
  return after === undefined ? withoutMember(object, key) : withMember(object, key, after);
}

function rebuildItems(items: readonly Json[], from: number, to: number, change: Change): readonly Json[] {
  const changed: Json[] = items.slice(0, from);
  let isChanged = false;
  for (let index = from; index < to; index += 1) {
    const before = items[index];
    if (before === undefined) continue;
    const after = change(before);
    isChanged ||= after !== before;
    if (after !== undefined) changed.push(after);
  }
  if (!isChanged) return items;
  for (const item of items.slice(to)) changed.push(item);
  return changed;
}

function rebuildMatches(object: JsonObject, pattern: Pattern, change: Change): JsonObject {
  const changed = new ObjectBuilder();
  let isChanged = false;
  for (const key of keysOf(object)) {
    const before = get(object, key);
    if (before === undefined) continue;
    const after = matchesPattern(pattern, key) ? change(before) : before;
    isChanged ||= after !== before;
    if (after !== undefined) changed.set(key, after);
  }
  return isChanged ? changed.build() : object;
}
