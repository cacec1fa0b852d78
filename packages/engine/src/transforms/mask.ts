import { type Json, textOf } from '../json/index.ts';
import { overDocuments } from './document.ts';
import { Path } from './path.ts';
import type { Transform } from './transform.ts';

export interface MaskConfig {
  readonly fields: readonly string[];
  /** Default: `*`. May be several characters. */
  readonly maskChar?: string;
  /** As many as the value's text has characters; else three. */
  readonly keepLength?: boolean;
}

/** Puts a string of mask characters in place of every value that the paths name, whatever it is. */
export function mask({ fields, maskChar, keepLength = false }: MaskConfig): Transform {
  const paths = fields.map((field, index) => Path.compile(`fields[${index}]`, field));
  const char = maskChar || '*';
  const masked = (value: Json) => char.repeat(keepLength ? charactersIn(textOf(value)) : 3);
  return overDocuments((document) => {
    let changed = document;
    for (const path of paths) changed = path.update(changed, masked);
    return changed;
  });
}

/** Code points: neither the bytes of UTF-8 nor the halves of UTF-16. */
function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
