export { type ManagerEvents, type ProductEvents, together } from './events.ts';
export { Manager, type ManagerOptions, type Server } from './manager.ts';
export { type Check, type Checks, probes, Waiting } from './probes.ts';
export { type PreviewOptions, type Product, type Registration, register } from './product.ts';
export { stopSignal } from './signals.ts';
export {
  type Durations,
  defaultDurations,
  type Interval,
  type Intervals,
  type Resolve,
  type Surroundings,
} from './surroundings.ts';
