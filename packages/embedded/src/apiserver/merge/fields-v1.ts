import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { FieldSet } from './field-set.ts';
import { parsePathElement } from './path-element.ts';

/**
 * A field set as `managedFields` carries it: objects nested by path element, `{}` for a leaf, and `"."` for a member that
 * has others below it. Elements come in canonical order, so equal sets print the same bytes.
 */
export function printFieldsV1(set: FieldSet): JsonObject {
  const fields: Record<string, Json> = {};
  if (set.isMember && set.children.size > 0) fields['.'] = {};
  for (const element of set.elements()) fields[element] = printFieldsV1(set.at(element));
  return fields;
}

/** Undefined for what is not FieldsV1. */
export function parseFieldsV1(fields: Json): FieldSet | undefined {
  if (!isObject(fields)) return undefined;
  const children = parseChildren(fields);
  return children && FieldSet.node(false, children);
}

function parseChildren(fields: JsonObject): Map<string, FieldSet> | undefined {
  const children = new Map<string, FieldSet>();
  for (const [text, below] of Object.entries(fields)) {
    if (text === '.') continue;
    const element = parsePathElement(text);
    if (element === undefined || !isObject(below)) return undefined;
    const nested = parseChildren(below);
    if (nested === undefined) return undefined;
    const isMember = nested.size === 0 || Object.hasOwn(below, '.');
    children.set(element, FieldSet.node(isMember, nested));
  }
  return children;
}
