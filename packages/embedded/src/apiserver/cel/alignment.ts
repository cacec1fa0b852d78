import { itemWithSameKeys } from '../schema/correlation.ts';
import { sameJson } from '../schema/equality.ts';
import { isObject, type Schema } from '../schema/schema.ts';

/**
 * The old value with its sets and map lists in the order of the new one: there the order means nothing, and the library
 * compares lists item by item. Without it `self == oldSelf` would see a change that is none.
 */
export function aligned(schema: Schema, old: unknown, value: unknown): unknown {
  if (Array.isArray(old) && Array.isArray(value)) return alignedList(schema, old, value);
  if (!isObject(old) || !isObject(value)) return old;
  return Object.fromEntries(
    Object.entries(old).map(([name, member]) => {
      const property = schema.property(name);
      return [name, property && Object.hasOwn(value, name) ? aligned(property, member, value[name]) : member];
    }),
  );
}

function alignedList(schema: Schema, old: readonly unknown[], value: readonly unknown[]): readonly unknown[] {
  const type = schema.node['x-kubernetes-list-type'];
  const { items } = schema;
  if (type !== 'set' && type !== 'map') return old;
  const counterpart = (item: unknown) =>
    type === 'map' ? itemWithSameKeys(schema, old, item) : old.find((other) => sameJson(other, item));
  const pairs = value.map((item) => ({ item, before: counterpart(item) })).filter(({ before }) => before !== undefined);
  const others = old.filter((item) => !pairs.some(({ before }) => before === item));
  return [...pairs.map(({ item, before }) => (items ? aligned(items, before, item) : before)), ...others];
}
