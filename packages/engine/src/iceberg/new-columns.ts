import type { Json } from '../json/index.ts';
import type { Requirement } from './catalog.ts';
import type { TableMetadata } from './metadata.ts';
import { type PrimitiveType, schemaJson } from './types.ts';

/** What the catalog is to be told to give a table more columns. They may be null: rows that are there have no value for them. */
export function planNewColumns(
  { uuid, schema, lastColumnId }: TableMetadata,
  columns: ReadonlyMap<string, PrimitiveType>,
): { readonly requirements: readonly Requirement[]; readonly updates: readonly Json[] } {
  const added = [...columns].map(([name, type], at) => ({ id: lastColumnId + 1 + at, name, isRequired: false, type }));
  const grown = { id: schema.id + 1, fields: [...schema.fields, ...added] };
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid },
      { type: 'assert-current-schema-id', 'current-schema-id': schema.id },
      { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': lastColumnId },
    ],
    updates: [
      { action: 'add-schema', schema: schemaJson(grown), 'last-column-id': lastColumnId + added.length },
      // The one that was added last.
      { action: 'set-current-schema', 'schema-id': -1 },
    ],
  };
}
