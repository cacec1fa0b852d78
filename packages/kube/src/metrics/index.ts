export type { Meters } from './meters.ts';
export { Metrics } from './metrics.ts';
