export { GarbageCollector, type GarbageCollectorOptions } from './collector.ts';
