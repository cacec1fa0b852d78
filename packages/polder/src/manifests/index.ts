export { type AppliedObject, applyManifests } from './apply.ts';
export { ServedKinds } from './kinds.ts';
export { type Manifest, readManifests } from './read.ts';
export { type Readiness, readinessOf } from './readiness.ts';
