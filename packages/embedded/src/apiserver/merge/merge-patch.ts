import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { badRequest } from '../status.ts';
import { fieldsByName } from './fields-by-name.ts';
import { jsonTypeName } from './go-format.ts';

/** RFC 7386 on a whole object: null removes, objects merge, everything else replaces. */
export function applyMergePatch(document: JsonObject, patch: Json): JsonObject {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(document, patch);
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  const merged = fieldsByName(document);
  for (const [key, value] of Object.entries(patch)) {
    const current = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(current) && isObject(value) ? mergeObjects(current, value) : withoutNulls(value));
  }
  return Object.fromEntries(merged);
}

/** What is new brings no nulls along, not even inside of lists (there the server is stricter than the RFC). */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => (item === null ? null : withoutNulls(item)));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}
