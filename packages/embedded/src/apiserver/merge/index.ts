/**
 * How writes change an object, and who owns its fields afterwards. Pure functions on JSON values.
 *
 * - JSON, merge and strategic merge patch: patch the live object, default it, then `trackUpdate`, as for create and update.
 * - Apply: `applyConfiguration`, default what it returns, then `settleTimes`.
 * - Only then reset what the endpoint does not let a request set (`ignoredFields` says what that is), allocate, admit:
 *   what the server adds to an object on its own belongs to nobody.
 */
export { type Apply, type ApplyOutcome, applyConfiguration, settleTimes } from './apply.ts';
export { applyConflict, type Conflict } from './conflicts.ts';
export { jsonTypeName } from './go-format.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic-merge.ts';
export { ignoredFields, type TrackedKind, type Write } from './tracking.ts';
export { trackUpdate, type Update } from './update.ts';
