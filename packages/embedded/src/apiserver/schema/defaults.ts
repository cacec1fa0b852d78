import { parseJson, printJson } from '../exact-json.ts';
import { isObject, type Json, type Schema } from './schema.ts';

/**
 * Fills in the schema's defaults. A null where null is not allowed counts as absent: it gets the default, or is dropped
 * when there is none (an item of a list stays: dropping it would shift the others). The argument is left as it is.
 */
export function withDefaults(schema: Schema, value: Json): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const filled = value.map((item: Json) =>
      withDefaults(items, isMisplacedNull(items, item) ? fallback(items) : item),
    );
    return filled.every((item, index) => item === value[index]) ? value : filled;
  }
  if (!isObject(value)) return value;
  const present = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const property = schema.property(name);
    if (property === undefined) return [[name, member]];
    if (!isMisplacedNull(property, member)) return [[name, withDefaults(property, member)]];
    return property.default === undefined || property.default === null
      ? []
      : [[name, withDefaults(property, fallback(property))]];
  });
  const missing = Object.keys(schema.node.properties ?? {}).flatMap((name): [string, Json][] => {
    const property = schema.property(name);
    if (property === undefined || Object.hasOwn(value, name)) return [];
    return property.default === undefined || property.default === null
      ? []
      : [[name, withDefaults(property, fallback(property))]];
  });
  const isSame = missing.length === 0 && present.length === Object.keys(value).length;
  if (isSame && present.every(([name, member]) => member === value[name])) return value;
  return Object.fromEntries([...present, ...missing]);
}

const isMisplacedNull = (schema: Schema, value: Json) => value === null && schema.node.nullable !== true;

function fallback(schema: Schema): Json {
  return parseJson(printJson(schema.default ?? null));
}
