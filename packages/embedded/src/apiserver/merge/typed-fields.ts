import { isObject, type Json } from '../schema/schema.ts';
import { FieldSet, FieldSetBuilder } from './field-set.ts';
import { itemsByName, nameOf } from './list-items.ts';
import { type FieldPath, fieldElement, fieldNameOf } from './path-element.ts';
import type { Shape } from './shape.ts';

/** The fields that a value has: what someone who applies it owns. */
export function fieldsOf(value: Json, shape: Shape): FieldSet {
  const fields = new FieldSetBuilder();
  collect(value, shape, [], fields);
  return fields.build();
}

function collect(value: Json, shape: Shape, path: FieldPath, fields: FieldSetBuilder): void {
  const form = shape.formOf(value);
  if (form === 'scalar' || (form === 'map' && shape.map?.isAtomic) || (form === 'list' && isAtomicList(shape))) {
    fields.insert(path);
  } else if (form === 'map' && isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      const here = [...path, fieldElement(name)];
      collect(item, shape.field(name), here, fields);
      // A parent is owned only by those who would otherwise own nothing there, and as the key of a free map.
      const isOwn = item === null || (isObject(item) && Object.keys(item).length === 0) || !shape.map?.declared(name);
      if (isOwn) fields.insert(here);
    }
  } else if (form === 'list' && shape.list && Array.isArray(value)) {
    for (const [name, items] of itemsByName(value, shape.list)) {
      const here = [...path, name];
      fields.insert(here);
      if (items.length === 1 && items[0] !== undefined) collect(items[0], shape.list.items, here, fields);
    }
  }
}

const isAtomicList = (shape: Shape) => shape.list === undefined || shape.list.relation === 'atomic';

/** With every parent that the schema names: they go when all that is in them goes. */
export function withNamedParents(set: FieldSet, shape: Shape | undefined): FieldSet {
  return FieldSet.node(
    set.isMember,
    set.children.entries().map(([element, child]) => {
      const name = fieldNameOf(element);
      const below = name === undefined ? shape?.list?.items : shape?.field(name);
      const isNamed = name !== undefined && shape?.map?.declared(name) !== undefined;
      const nested = withNamedParents(child, below);
      return [element, FieldSet.node(nested.isMember || isNamed, nested.children)] as const;
    }),
  );
}

/** What was owned piece by piece and has become one value since, by a change of the schema, is owned as a whole. */
export function fitToShape(set: FieldSet, shape: Shape): FieldSet {
  if (set.children.size === 0) return set;
  const isAtomic = shape.map ? shape.map.isAtomic : shape.scalar === undefined && isAtomicList(shape);
  if (isAtomic) return FieldSet.leaf;
  return FieldSet.node(
    set.isMember,
    set.children.entries().map(([element, child]) => {
      const name = fieldNameOf(element);
      const below = name === undefined ? shape.list?.items : (shape.map?.declared(name) ?? shape.map?.others);
      return [element, below ? fitToShape(child, below) : child] as const;
    }),
  );
}

/**
 * The value without the fields of a set; `hollow` (null or nothing at all) is what becomes of a field that stays but
 * loses everything in it. To those who own it, it is still there; in the object it need not be.
 */
export function removeFields<Hollow extends null | undefined>(
  value: Json,
  gone: FieldSet,
  shape: Shape,
  hollow: Hollow,
): Json | Hollow {
  const form = shape.formOf(value);
  if (form === 'map' && isObject(value) && shape.map && !shape.map.isAtomic) {
    const kept = new Map<string, Json>();
    for (const [name, item] of Object.entries(value)) {
      const below = gone.at(fieldElement(name));
      if (below.isMember) continue;
      const left = below.isEmpty ? item : removeFields(item, below, shape.field(name), hollow);
      if (left !== undefined) kept.set(name, left);
    }
    // A struct that stays is there, empty or not; a map without keys is not.
    const isStruct = hollow === undefined && shape.map.others === undefined;
    return kept.size > 0 || isStruct ? Object.fromEntries(kept) : hollow;
  }
  if (form === 'list' && Array.isArray(value) && shape.list && !isAtomicList(shape)) {
    const { list } = shape;
    const kept = value.flatMap((item: Json) => {
      const name = nameOf(item, list);
      const below = 'element' in name ? gone.at(name.element) : FieldSet.empty;
      if (below.isMember) return [];
      const left = below.isEmpty ? item : removeFields(item, below, list.items, hollow);
      return left === undefined ? [] : [left];
    });
    return kept.length > 0 ? kept : hollow;
  }
  return form === 'scalar' ? value : hollow;
}
