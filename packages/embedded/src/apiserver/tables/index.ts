export { CUSTOM_AGE } from './columns.ts';
export { humanDuration, since } from './human-duration.ts';
export { type IncludeObject, type Table, table } from './table.ts';
