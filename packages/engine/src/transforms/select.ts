import { isArray, isObject, type Json, ObjectBuilder } from '../json/index.ts';
import { overDocuments } from './document.ts';
import { Path } from './path.ts';
import type { Transform } from './transform.ts';

export interface SelectConfig {
  readonly fields: readonly string[];
}

/**
 * A flat object of the named values, each under the last name of its path. Of an object with none of them `{}` is left: to
 * pass it whole, as others do, would let out just what was not selected.
 */
export function select({ fields }: SelectConfig): Transform {
  const paths = fields.map((field, index) => Path.compile(`fields[${index}]`, field));
  return overDocuments((document) => {
    if (!isObject(document) && !isArray(document)) return document;
    const selected = new ObjectBuilder();
    let isAny = false;
    const add = (name: string, value: Json) => {
      selected.set(name, value);
      isAny = true;
    };
    for (const path of paths) path.visit(document, add);
    // An array has no fields to select from; its elements can be named nevertheless.
    return isAny || isObject(document) ? selected.build() : document;
  });
}
