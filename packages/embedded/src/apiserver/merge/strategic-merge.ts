import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject, type Schema } from '../schema/schema.ts';
import { badRequest, StatusError } from '../status.ts';
import { fieldsByName } from './fields-by-name.ts';
import { goTypeName, goValue, jsonTypeName } from './go-format.ts';

/**
 * Kubernetes' own patch format: objects merge, lists merge when the schema says so (`x-kubernetes-patch-strategy`), by
 * `x-kubernetes-patch-merge-key` or as sets of scalars, and directives say what merging cannot:
 *
 * - `$patch: replace | delete` in an object, or in an item of a merging list;
 * - `$deleteFromPrimitiveList/<field>`: items to take out of a list of scalars;
 * - `$setElementOrder/<field>`: the order the patched items shall have, relative to each other;
 * - `$retainKeys`: of this object, drop every other field (what a change of a union's member needs).
 *
 * Only built-in kinds can be patched this way; for others the server does not accept the content type.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: Json, schema: Schema): JsonObject {
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`);
  }
  return mergeObjects(document, patch, schema);
}

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ELEMENT_ORDER = '$setElementOrder';
const DELETE_SCALARS = '$deleteFromPrimitiveList';

/** Errors that the real server has no status for leave it as 500, without a reason. */
const unprocessed = (message: string) => new StatusError(500, '', message);

function mergeObjects(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return directed(patch);
  const { merged, rest } = ordered(retained(original, patch), patch, schema);
  for (const [name, value] of rest) {
    if (name.startsWith(DELETE_SCALARS)) {
      const field = fieldOf(name, DELETE_SCALARS, 'invalid patch format of primitive list');
      const current = merged.get(field);
      if (Array.isArray(current) && Array.isArray(value)) {
        merged.set(
          field,
          current.filter((item: Json) => !value.includes(item)),
        );
      }
    } else {
      const result = value === null ? undefined : mergeField(merged.get(name), value, schema?.property(name));
      if (result === undefined) merged.delete(name);
      else merged.set(name, result);
    }
  }
  return Object.fromEntries(merged);
}

function directed(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === 'replace') return asNewObject(rest);
  if (directive === 'delete') return {};
  throw unprocessed(`unknown patch type: ${goValue(directive ?? null)} in map: ${goValue(patch)}`);
}

function mergeField(current: Json | undefined, patch: Json, schema: Schema | undefined): Json | undefined {
  if (isObject(current) && isObject(patch)) {
    return strategyOf(schema) === 'replace' ? asNew(patch) : mergeObjects(current, patch, schema);
  }
  if (Array.isArray(current) && Array.isArray(patch)) {
    return strategyOf(schema) === 'merge' ? mergeLists(current, patch, schema) : asNewItems(patch);
  }
  return asNew(patch);
}

/** What a field says beside `retainKeys`, which only tells clients to send the directive. */
const strategyOf = (schema: Schema | undefined) =>
  schema?.node['x-kubernetes-patch-strategy']?.split(',').find((strategy) => strategy !== 'retainKeys');

const mergeKeyOf = (schema: Schema | undefined) => schema?.node['x-kubernetes-patch-merge-key'];

const wrongRetainKeys = () => badRequest('invalid patch format of retainKeys');

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[RETAIN_KEYS];
  if (keys === undefined) return original;
  if (!Array.isArray(keys)) throw wrongRetainKeys();
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || name === RETAIN_KEYS || name.startsWith(DELETE_SCALARS) || name.startsWith(ELEMENT_ORDER)) {
      continue;
    }
    if (!keys.includes(name)) throw wrongRetainKeys();
  }
  return Object.fromEntries(Object.entries(original).filter(([name]) => keys.includes(name)));
}

/** Merges the lists whose order the patch sets, and hands back what of the patch is left to do. */
function ordered(
  original: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
): { merged: Map<string, Json>; rest: ReadonlyMap<string, Json> } {
  const merged = fieldsByName(original);
  const rest = fieldsByName(patch);
  rest.delete(RETAIN_KEYS);
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(ELEMENT_ORDER)) continue;
    rest.delete(name);
    if (!Array.isArray(order)) throw notAList(order);
    const field = fieldOf(name, ELEMENT_ORDER, 'invalid patch format of setElementOrder list');
    const current = asList(merged.get(field));
    const patched = asList(rest.get(field));
    const list = schema?.property(field);
    const key = mergeKeyOf(list);
    if (patched !== undefined) checkOrder(patched, order, key);
    const all = orderedList(current, patched, list);
    if (all === undefined) continue;
    merged.set(field, inOrder(all, order, current ?? [], key));
    rest.delete(field);
  }
  return { merged, rest };
}

function orderedList(
  current: readonly Json[] | undefined,
  patched: readonly Json[] | undefined,
  list: Schema | undefined,
): readonly Json[] | undefined {
  if (patched === undefined) return current;
  return current !== undefined && strategyOf(list) === 'merge'
    ? mergeLists(current, patched, list)
    : asNewItems(patched);
}

function asList(value: Json | undefined): readonly Json[] | undefined {
  if (value === undefined || Array.isArray(value)) return value;
  throw notAList(value);
}

const notAList = (value: Json) => unprocessed(`expected a []interface {}, but received a ${goTypeName(value)}`);

function fieldOf(directive: string, prefix: string, complaint: string): string {
  const slash = directive.indexOf('/');
  if (slash < 0 || directive.slice(0, slash) !== prefix) throw badRequest(complaint);
  return directive.slice(slash + 1);
}

/** The patched items must come in the order that the directive sets, else the two contradict each other. */
function checkOrder(patched: readonly Json[], order: readonly Json[], key: string | undefined): void {
  if (patched.length === 0 || order.length === 0) return;
  const items = patched.filter((item) => !(isObject(item) && Object.hasOwn(item, DIRECTIVE)));
  let next = 0;
  for (const place of order) {
    const item = items[next];
    if (item !== undefined && isDeepStrictEqual(keyOf(item, key), keyOf(place, key))) next++;
  }
  if (next < items.length) {
    throw unprocessed(
      `The order in patch list:\n${goValue(patched)}\n doesn't match ${ELEMENT_ORDER} list:\n${goValue(order)}\n`,
    );
  }
}

function mergeLists(current: readonly Json[], patch: readonly Json[], list: Schema | undefined): readonly Json[] {
  if (current.length === 0 && patch.length === 0) return current;
  checkTypes(current, patch);
  if (![...current, ...patch].some(isObject)) {
    return inOrder([...new Set([...current, ...patch])], patch, current, undefined);
  }
  const key = mergeKeyOf(list);
  if (key === undefined) throw unprocessed('cannot merge lists without merge key');
  const { kept, items, isReplaced } = specialItems(current, patch, key);
  if (isReplaced) return asNewItems(items);
  const merged = [...kept];
  for (const item of items) {
    const value = keyOf(item, key);
    const place = merged.findIndex((candidate) => isObject(candidate) && candidate[key] === value);
    const found = merged[place];
    if (isObject(found)) merged[place] = mergeObjects(found, item, list?.items);
    else merged.push(asNewObject(item));
  }
  return inOrder(merged, items, kept, key);
}

function checkTypes(current: readonly Json[], patch: readonly Json[]): void {
  const types = new Set([...current, ...patch].map(goTypeName));
  if (types.has('[]interface {}')) throw new StatusError(422, 'Invalid', 'lists of lists are not supported', {});
  if (types.size > 1) throw unprocessed(`list element types are not identical: ${goValue([current, patch])}`);
}

/** Carries out `$patch` in items of a list: deletions at once; a replacement makes the other items the whole list. */
function specialItems(current: readonly Json[], patch: readonly Json[], key: string) {
  let kept = current;
  let isReplaced = false;
  const items: JsonObject[] = [];
  for (const item of patch) {
    if (!isObject(item)) continue;
    const directive = item[DIRECTIVE];
    if (directive === undefined) items.push(item);
    else if (directive === 'replace') isReplaced = true;
    else if (directive === 'merge') throw unprocessed('merging lists cannot yet be specified in the patch');
    else if (directive !== 'delete') {
      throw unprocessed(`unknown patch type: ${goValue(directive)} in map: ${goValue(item)}`);
    } else {
      const value = keyOf(item, key);
      kept = kept.filter((candidate) => !(isObject(candidate) && candidate[key] === value));
    }
  }
  return { kept, items, isReplaced };
}

function keyOf(item: Json, key: string | undefined): Json {
  if (key === undefined) return item;
  if (!isObject(item)) throw unprocessed(`expected a map[string]interface {}, but received a ${goTypeName(item)}`);
  const value = item[key];
  if (value === undefined) throw unprocessed(`map: ${goValue(item)} does not contain declared merge key: ${key}`);
  return value;
}

/**
 * The items that the patch names come in its order; the others stay in front of the patched ones that they were in
 * front of before. The order of the patch wins where both cannot be had.
 */
function inOrder(
  items: readonly Json[],
  order: readonly Json[],
  before: readonly Json[],
  key: string | undefined,
): readonly Json[] {
  const places = new Map(order.map((item, place) => [keyOf(item, key), place]));
  const earlier = new Map(before.map((item, place) => [keyOf(item, key), place]));
  const placeIn = (map: ReadonlyMap<Json, number>, item: Json) => map.get(keyOf(item, key));
  const patched = items.filter((item) => placeIn(places, item) !== undefined);
  patched.sort((a, b) => (placeIn(places, a) ?? 0) - (placeIn(places, b) ?? 0));
  const others = items.filter((item) => placeIn(places, item) === undefined);
  const result: Json[] = [];
  for (const item of patched) {
    const place = placeIn(earlier, item) ?? -1;
    // Those of the others that were there before the item, up to the first that was not.
    const behind = others.findIndex((other) => (placeIn(earlier, other) ?? Number.POSITIVE_INFINITY) > place);
    result.push(...others.splice(0, behind < 0 ? others.length : behind), item);
  }
  return [...result, ...others];
}

/**
 * A part of the patch where there is nothing to patch: no nulls, for there is nothing to remove; and an object that says
 * `$patch` is not there at all.
 */
function asNew(value: Json): Json | undefined {
  if (Array.isArray(value)) return asNewItems(value);
  if (!isObject(value)) return value;
  return Object.hasOwn(value, DIRECTIVE) ? undefined : asNewObject(value);
}

const asNewItems = (items: readonly Json[]): readonly Json[] => items.map(asNew).filter((item) => item !== undefined);

function asNewObject(object: JsonObject): JsonObject {
  const kept = new Map<string, Json>();
  for (const [name, item] of Object.entries(object)) {
    if (name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || name.startsWith(DELETE_SCALARS)) continue;
    const value = item === null ? undefined : asNew(item);
    if (value !== undefined) kept.set(name, value);
  }
  return Object.fromEntries(kept);
}
