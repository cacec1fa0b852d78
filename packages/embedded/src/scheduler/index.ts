export { isSelectedBy } from './node-selection.ts';
export { scheduler } from './scheduler.ts';
