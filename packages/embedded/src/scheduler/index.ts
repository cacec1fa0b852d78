export { isSelectedBy } from './node-selection.ts';
export { type Placement, place } from './place.ts';
export { scheduler } from './scheduler.ts';
