export { type Behaviour, SIMULATE, STAGES, type Stage } from './behaviour.ts';
export { simulated } from './runner.ts';
