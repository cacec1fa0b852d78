/** A name as SQL takes it, whatever is in it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `orders`, `sales.orders`, `"My.Schema"."t"` → its parts, as they are called in the catalog. */
export function partsOf(name: string): readonly string[] {
  return [...name.matchAll(/"((?:[^"]|"")*)"|[^.]+/g)].map(([part, inner]) =>
    inner === undefined ? part.trim() : inner.replaceAll('""', '"'),
  );
}

/** The same name, every part quoted. */
export const quotedTable = (name: string): string => partsOf(name).map(quoted).join('.');

/** The columns that a `conflictKey` names: one, or several with commas between. */
export const keyColumns = (conflictKey: string): readonly string[] =>
  conflictKey
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
