import { isObject, type Json, type Schema } from '../schema/schema.ts';
import { fieldsByName } from './fields-by-name.ts';

/**
 * Built-in kinds are Go structs in the real server: a struct inside a struct is always there, and a required list is
 * null, never absent. That shows in who owns what: nobody becomes the owner of `.spec.strategy` by setting
 * `.spec.strategy.type`, because `.spec.strategy` was there before; and whoever creates a pod owns the empty
 * `resources` of its containers. OpenAPI tells such structs by their default of `{}`.
 */
export function withZeroValues(value: Json, schema: Schema | undefined): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withZeroValues(item, schema?.items));
  if (!isObject(value) || schema === undefined) return value;
  const filled = fieldsByName(value);
  for (const [name, item] of filled) filled.set(name, withZeroValues(item, schema.property(name)));
  for (const name of Object.keys(schema.node.properties ?? {})) {
    if (filled.has(name)) continue;
    const field = schema.property(name);
    const zero = field?.node.default;
    if (isObject(zero)) filled.set(name, withZeroValues({}, field));
    else if (schema.node.required?.includes(name)) filled.set(name, isScalar(zero) ? zero : null);
  }
  return Object.fromEntries(filled);
}

const isScalar = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
