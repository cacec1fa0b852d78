export { type Environment, environmentOf, probeCommand } from './environment.ts';
export { expand } from './expansion.ts';
export type { Facts, References } from './references.ts';
export { type ResolvedVolumes, volumesOf } from './volumes.ts';
