export { columnsCalledFor } from './called-for.ts';
export { type ColumnType, columnTypeOf, inferColumns, widened } from './column-types.ts';
export { type Group, Groups } from './groups.ts';
export { keyColumns, partsOf, quoted, quotedTable } from './identifiers.ts';
export { decodedString, fieldsOf } from './json-fields.ts';
export { polled } from './polling.ts';
export { checkpointOf, isPosition, type Position, positionOf } from './position.ts';
export { identityOf, type Row, type RowForm, type RowMetadata, refused, rowOf } from './row.ts';
export { UnknownKeys } from './unknown-keys.ts';
