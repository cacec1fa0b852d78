export { type ElectionEvents, LeaderElector, type LeaderElectorOptions } from './leader-elector.ts';
export { type Leadership, LeadershipEnded } from './leadership.ts';
export { checkTimings, DEFAULT_TIMINGS, type Timings } from './record.ts';
