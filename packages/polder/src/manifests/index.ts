export { type AppliedObject, applyManifests, placed } from './apply.ts';
export { nameOf, ServedKinds } from './kinds.ts';
export { type Manifest, readManifests } from './read.ts';
export { type Readiness, readinessOf } from './readiness.ts';
