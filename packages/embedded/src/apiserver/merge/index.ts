export { type Apply, type ApplyOutcome, applyConfiguration, settleTimes } from './apply.ts';
export { applyConflict, type Conflict } from './conflicts.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic-merge.ts';
export { ignoredFields, type TrackedKind, type Write } from './tracking.ts';
export { trackUpdate, type Update } from './update.ts';
