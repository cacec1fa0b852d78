import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../schema/schema.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { fieldsByName } from './fields-by-name.ts';
import { itemsByName } from './list-items.ts';
import { type FieldPath, fieldElement } from './path-element.ts';
import type { Form, ListShape, Shape } from './shape.ts';

/** Which fields one value has and the other does not, or has differently. */
export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

export function compareValues(before: Json, after: Json, shape: Shape): Comparison {
  const walk = new ComparingWalk();
  walk.compare(before, after, shape, []);
  return { added: walk.added.build(), removed: walk.removed.build(), modified: walk.modified.build() };
}

class ComparingWalk {
  readonly added = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();

  compare(before: Json | undefined, after: Json | undefined, shape: Shape, path: FieldPath): void {
    // Where the schema allows several forms, a value can change its form: then both are looked at.
    const forms = new Set<Form>();
    if (before !== undefined) forms.add(shape.formOf(before));
    if (after !== undefined) forms.add(shape.formOf(after));
    let isLeaf = false;
    for (const form of forms) isLeaf = this.#compareAs(form, before, after, shape, path);
    if (isLeaf) return;
    if (before === undefined) this.added.insert(path);
    else if (after === undefined) this.removed.insert(path);
  }

  #compareAs(form: Form, before: Json | undefined, after: Json | undefined, shape: Shape, path: FieldPath): boolean {
    if (form === 'map' && shape.map && !shape.map.isAtomic) {
      const left = fieldsByName(before);
      const right = fieldsByName(after);
      const names = new Set([...left.keys(), ...right.keys()]);
      for (const name of names) {
        this.compare(left.get(name), right.get(name), shape.field(name), [...path, fieldElement(name)]);
      }
      if (names.size > 0) return false;
    }
    if (form === 'list' && shape.list && shape.list.relation !== 'atomic') {
      const left = Array.isArray(before) ? before : [];
      const right = Array.isArray(after) ? after : [];
      this.#compareItems(left, right, shape.list, path);
      if (left.length + right.length > 0) return false;
    }
    if (before === undefined) this.added.insert(path);
    else if (after === undefined) this.removed.insert(path);
    else if (!isDeepStrictEqual(before, after)) this.modified.insert(path);
    return true;
  }

  #compareItems(before: readonly Json[], after: readonly Json[], list: ListShape, path: FieldPath): void {
    const left = itemsByName(before, list);
    const right = itemsByName(after, list);
    for (const name of new Set([...left.keys(), ...right.keys()])) {
      const here = [...path, name];
      const lefts = left.get(name) ?? [];
      const rights = right.get(name) ?? [];
      if (lefts.length <= 1 && rights.length <= 1) {
        this.compare(lefts[0], rights[0], list.items, here);
      } else if (lefts.length > 1 && rights.length > 1) {
        // Items that share a name are one value as a whole.
        if (!isDeepStrictEqual(lefts, rights)) this.modified.insert(here);
      } else if (lefts.length > 1) {
        if (rights[0] !== undefined) this.compare(undefined, rights[0], list.items, here);
        this.removed.insert(here);
      } else {
        if (lefts[0] !== undefined) this.compare(lefts[0], undefined, list.items, here);
        this.added.insert(here);
      }
    }
  }
}
