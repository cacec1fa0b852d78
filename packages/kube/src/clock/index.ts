export { type Clock, sleep, systemClock, TimeoutError, type Timer, withTimeout } from './clock.ts';
export { timestamp } from './timestamp.ts';
export { VirtualClock } from './virtual-clock.ts';
