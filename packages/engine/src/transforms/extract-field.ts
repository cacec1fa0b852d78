import { overDocuments } from './document.ts';
import { Path } from './path.ts';
import type { Transform } from './transform.ts';

export interface ExtractFieldConfig {
  readonly field: string;
}

/** The value of a field becomes the whole payload. A document without the field stays. */
export function extractField({ field }: ExtractFieldConfig): Transform {
  const path = Path.compile('field', field);
  return overDocuments((document) => {
    const value = path.get(document);
    // Not `??`: null is a value.
    return value === undefined ? document : value;
  });
}
