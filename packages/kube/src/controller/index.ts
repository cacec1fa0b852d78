export { LastApplied } from './applied.ts';
export { Bell } from './bell.ts';
export { Cluster, type ClusterParts, ownerIndex } from './cluster.ts';
export {
  type Act,
  type Cached,
  type Controller,
  controller,
  type Heed,
  headOf,
  heed,
  type Lookup,
  type StatusOf,
  type StepNamed,
  type Steps,
  type Watch,
  type World,
  watch,
} from './controller.ts';
export { type Outcome, UserMustAct } from './outcome.ts';
export { ownerReference } from './owner.ts';
export { DEFAULT_PACE, type Pace } from './pace.ts';
export type { PassEvents } from './pass.ts';
export {
  type Held,
  judge,
  type Known,
  known,
  type Plan,
  type Reported,
  type Rule,
  type Step,
  sentenceOf,
  unknown,
} from './plan.ts';
export { type Preview, preview } from './preview.ts';
export { type PassResult, Runner, type RunnerEvents, type RunnerOptions, WORKERS } from './runner.ts';
