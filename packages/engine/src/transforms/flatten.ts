import { get, hasOnly, isArray, isObject, type Json, merge, withMember } from '../json/index.ts';
import { withDocument } from './document.ts';
import { Path } from './path.ts';
import type { Transform } from './transform.ts';

export interface FlattenConfig {
  readonly field: string;
}

/**
 * A message for each element of an array: the rest of the document, with the members of the element over it. An element that
 * is no object is found under the last name of the path. An empty array leaves one message without it.
 */
export function flatten({ field }: FlattenConfig): Transform {
  const path = Path.compileSingle('field', field);
  return (message) => {
    const document = message.payload?.json;
    if (!isObject(document)) return [message];
    const items = itemsOf(path.get(document));
    if (items === undefined) return [message];
    const rest = path.remove(document);
    if (!isObject(rest)) return [message];
    if (items.length === 0) return [withDocument(message, rest)];
    return items.map((item) =>
      withDocument(message, isObject(item) ? merge(rest, item) : withMember(rest, path.name, item)),
    );
  };
}

/** Avro writes an array that may be null as `{"array": […]}`. */
function itemsOf(value: Json | undefined): readonly Json[] | undefined {
  if (isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const wrapped = get(value, 'array');
  return isArray(wrapped) && hasOnly(value, 'array') ? wrapped : undefined;
}
