export { clusterWorld } from './cluster-world.ts';
export type { Purpose } from './connection.ts';
export { type CrashOptions, crashAtEveryWrite } from './crash.ts';
export { type DisturbanceName, disturbanceNames } from './disturbances.ts';
export { type DisturbedOptions, disturbed } from './disturbed.ts';
export { SimulationFailure } from './failure.ts';
export type { Death, Process, Write } from './process.ts';
export { quiet, staysQuiet, type Trial } from './quiet.ts';
export { Random } from './random.ts';
export { seeds } from './seeds.ts';
export { type SimulateOptions, simulate } from './simulate.ts';
export { Simulation, type SimulationOptions } from './simulation.ts';
export type { State } from './state.ts';
export { normalised, type StateWalkOptions, stateWalk } from './state-walk.ts';
export { disturb } from './trouble.ts';
export {
  type Actor,
  type Invariant,
  type Invariants,
  type IsConverged,
  type OperatorOptions,
  operator,
  type Scenario,
  type World,
} from './world.ts';
