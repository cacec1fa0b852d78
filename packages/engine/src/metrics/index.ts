export { MetricsRegistry } from './registry.ts';
