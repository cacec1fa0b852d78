export { type Circumstances, type Fault, type FaultMatch, Faults, type Verb } from './faults.ts';
export { type Interception, interception } from './interception.ts';
