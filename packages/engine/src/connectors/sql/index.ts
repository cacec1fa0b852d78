export { type ColumnType, columnTypeOf, inferColumns, widened } from './column-types.ts';
export { partsOf, quoted, quotedTable } from './identifiers.ts';
export { decodedString, fieldsOf } from './json-fields.ts';
