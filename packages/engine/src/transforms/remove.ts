import { overDocuments } from './document.ts';
import { Path } from './path.ts';
import type { Transform } from './transform.ts';

export interface RemoveConfig {
  readonly fields: readonly string[];
}

/** One path after the other: after `a.0` is gone, `a.0` is what was `a.1`. */
export function remove({ fields }: RemoveConfig): Transform {
  const paths = fields.map((field, index) => Path.compile(`fields[${index}]`, field));
  return overDocuments((document) => {
    let changed = document;
    for (const path of paths) changed = path.remove(changed);
    return changed;
  });
}
