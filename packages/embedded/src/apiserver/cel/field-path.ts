import { child, keyed } from '../schema/field-errors.ts';
import type { Schema } from '../schema/schema.ts';

const STEP = /^(?:\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\])/;
const ESCAPED: Readonly<Record<string, string>> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/**
 * `.spec.labels['a.b']`, as `fieldPath` of a rule and `selectableFields` write it: fields and keys of maps that the schema
 * has. undefined when it does not lead anywhere.
 */
export function parseFieldPath(schema: Schema, text: string): { path: string; schema: Schema } | undefined {
  let path = '';
  let at = schema;
  for (let rest = text; rest !== ''; ) {
    const match = STEP.exec(rest);
    if (match === null) return undefined;
    rest = rest.slice(match[0].length);
    const name = match[1] ?? (match[2] ?? '').replaceAll(/\\(.)/g, (_, letter: string) => ESCAPED[letter] ?? letter);
    const isMap = at.node.properties === undefined;
    const next = at.property(name);
    if (next === undefined) return undefined;
    path = isMap ? keyed(path, name) : child(path, name);
    at = next;
  }
  return { path, schema: at };
}
