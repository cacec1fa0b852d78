import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { badRequest, StatusError } from '../status.ts';
import { jsonTypeName } from './go-format.ts';

/** The real server's limit: a patch is applied one operation at a time, while the object is held. */
const MOST_OPERATIONS = 10_000;

/**
 * RFC 6902 with the deviations of the real server's library, which clients have come to rely on: `replace` of a missing
 * key adds it, `test` of a missing key against null holds, indexes may be negative (from the end), a path's first
 * segment is ignored whether it is empty or not.
 */
export function applyJsonPatch(document: JsonObject, patch: Json): Json {
  const operations = decode(patch);
  if (operations.length > MOST_OPERATIONS) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${operations.length}`,
    );
  }
  let patched: Json = document;
  for (const operation of operations) patched = step(patched, operation);
  return patched;
}

interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  /** Left out is null, as in the real server. */
  readonly value: Json;
}

function decode(patch: Json): readonly Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(patch, 'value', '[]handlers.jsonPatchOp');
  return patch.map((operation: Json) => {
    if (operation === null) return { op: 'unknown', path: undefined, from: undefined, value: null };
    if (!isObject(operation)) throw undecodable(operation, 'value', 'handlers.jsonPatchOp');
    return {
      op: text(operation, 'op') ?? 'unknown',
      path: text(operation, 'path'),
      from: text(operation, 'from'),
      value: operation.value ?? null,
    };
  });
}

function text(operation: JsonObject, field: string): string | undefined {
  const value = operation[field] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw undecodable(value, `struct field jsonPatchOp.${field}`, 'string');
}

const undecodable = (value: Json, into: string, type: string) =>
  badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go ${into} of type ${type}`);

/** Whatever does not apply gets this one answer, without a word on which operation it was. */
const doesNotApply = () =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function step(document: Json, { op, path, from, value }: Operation): Json {
  if (path === undefined) throw doesNotApply();
  switch (op) {
    case 'add':
      return add(document, pointer(path), value);
    case 'remove':
      return remove(document, pointer(path));
    case 'replace':
      return path === '' ? replaceAll(value) : replace(document, pointer(path), value);
    case 'move': {
      const source = pointer(from);
      const moved = get(document, source);
      return add(remove(document, source), pointer(path), moved ?? null);
    }
    case 'copy':
      return add(document, pointer(path), get(document, pointer(from)) ?? null);
    case 'test': {
      const found = path === '' ? document : get(document, pointer(path));
      if (!isDeepStrictEqual(found ?? null, value)) throw doesNotApply();
      return document;
    }
    default:
      throw doesNotApply();
  }
}

type Pointer = readonly [first: string, ...rest: string[]];

function pointer(path: string | undefined): Pointer {
  const [, first, ...rest] = (path ?? '').split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (first === undefined) throw doesNotApply();
  return [first, ...rest];
}

function replaceAll(value: Json): Json {
  if (!isObject(value) && !Array.isArray(value)) throw doesNotApply();
  return value;
}

/** Rebuilds the containers on the way to the last segment, and there does `change`. */
function at(container: Json, [key, ...rest]: Pointer, change: (container: Json, key: string) => Json): Json {
  const [next, ...further] = rest;
  if (next === undefined) return change(container, key);
  const child = at(childAt(container, key), [next, ...further], change);
  if (isObject(container)) return { ...container, [key]: child };
  if (Array.isArray(container)) return container.with(indexIn(container, key), child);
  throw doesNotApply();
}

function childAt(container: Json, key: string): Json {
  const child = lookUp(container, key);
  if (child === undefined || child === null) throw doesNotApply();
  return child;
}

/** A missing key of an object is `undefined`; a missing index of a list does not apply. */
function lookUp(container: Json, key: string): Json | undefined {
  if (isObject(container)) return Object.hasOwn(container, key) ? container[key] : undefined;
  if (Array.isArray(container)) return container[indexIn(container, key)];
  throw doesNotApply();
}

function get(document: Json, [key, ...rest]: Pointer): Json | undefined {
  const [next, ...further] = rest;
  return next === undefined ? lookUp(document, key) : get(childAt(document, key), [next, ...further]);
}

const add = (document: Json, path: Pointer, value: Json) =>
  at(document, path, (container, key) => {
    if (isObject(container)) return { ...container, [key]: value };
    if (!Array.isArray(container)) throw doesNotApply();
    return container.toSpliced(key === '-' ? container.length : index(key, container.length + 1), 0, value);
  });

const remove = (document: Json, path: Pointer) =>
  at(document, path, (container, key) => {
    if (Array.isArray(container)) return container.toSpliced(indexIn(container, key), 1);
    if (!isObject(container) || !Object.hasOwn(container, key)) throw doesNotApply();
    const { [key]: _, ...others } = container;
    return others;
  });

const replace = (document: Json, path: Pointer, value: Json) =>
  at(document, path, (container, key) => {
    if (Array.isArray(container)) return container.with(indexIn(container, key), value);
    if (isObject(container)) return { ...container, [key]: value };
    throw doesNotApply();
  });

const indexIn = (list: readonly Json[], key: string) => index(key, list.length);

function index(key: string, length: number): number {
  const number = /^[+-]?\d+$/.test(key) ? Number(key) : Number.NaN;
  const position = number < 0 ? number + length : number;
  if (position >= 0 && position < length) return position;
  throw doesNotApply();
}
