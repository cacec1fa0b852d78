export { type Clock, sleep, systemClock, TimeoutError, type Timer, withTimeout } from './clock.ts';
export { VirtualClock } from './virtual-clock.ts';
