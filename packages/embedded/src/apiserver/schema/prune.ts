import { child, indexed } from './field-errors.ts';
import { isObject, type Json, type Schema } from './schema.ts';

export interface Pruned {
  readonly value: Json;
  /** Where something was dropped, sorted: `spec.bogus`, `spec.list[0].bogus`. */
  readonly unknown: readonly string[];
}

const OF_EVERY_OBJECT = ['apiVersion', 'kind', 'metadata'];

/** Drops what the schema does not know. The argument is left as it is; parts without a stranger are shared with it. */
export function prune(schema: Schema, value: Json): Pruned {
  const unknown: string[] = [];
  const pruned = drop(schema, value, '', unknown);
  return { value: pruned, unknown: unknown.toSorted(metadataFirst) };
}

/** The real server reads metadata before the rest. */
function metadataFirst(a: string, b: string): number {
  const [isMeta, isOtherMeta] = [a, b].map((path) => path.startsWith('metadata.'));
  if (isMeta !== isOtherMeta) return isMeta ? -1 : 1;
  return a < b ? -1 : 1;
}

/** The words of the real server's strict decoding: the detail of the 400, or one warning each. */
export const unknownFieldMessage = (path: string): string => `unknown field ${JSON.stringify(path)}`;
export const duplicateFieldMessage = (path: string): string => `duplicate field ${JSON.stringify(path)}`;
export const strictDecodingMessage = (messages: readonly string[]): string =>
  `strict decoding error: ${messages.join(', ')}`;

/** `schema` is undefined where anything may stand but nothing is known of it: objects are emptied there. */
function drop(
  schema: Schema | undefined,
  value: Json,
  path: string,
  unknown: string[],
  keeps = schema?.node['x-kubernetes-preserve-unknown-fields'] === true,
): Json {
  if (keeps && schema === undefined) return value;
  if (Array.isArray(value)) {
    // What a list keeps, its items keep too.
    const inherited = keeps || undefined;
    const items = value.map((item: Json, index) => drop(schema?.items, item, indexed(path, index), unknown, inherited));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const kept: Record<string, Json> = {};
  let isChanged = false;
  for (const [name, member] of Object.entries(value)) {
    const here = child(path, name);
    const result = isKnown(schema, name) ? drop(schema?.property(name), member, here, unknown) : member;
    if (isKnown(schema, name) || keeps || isOfEveryObject(schema, name)) {
      define(kept, name, result);
      isChanged ||= result !== member;
    } else {
      unknown.push(here);
      isChanged = true;
    }
  }
  return isChanged ? kept : value;
}

function isKnown(schema: Schema | undefined, name: string): boolean {
  if (schema === undefined || isOfEveryObject(schema, name)) return false;
  const { properties, additionalProperties } = schema.node;
  return (
    Object.hasOwn(properties ?? {}, name) || (additionalProperties !== undefined && additionalProperties !== false)
  );
}

/** The three fields of an embedded resource are not in its schema; they have checks of their own. */
const isOfEveryObject = (schema: Schema | undefined, name: string) =>
  schema?.node['x-kubernetes-embedded-resource'] === true && OF_EVERY_OBJECT.includes(name);

/** `__proto__` is a key like any other in JSON; plain assignment would lose it. */
function define(object: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
