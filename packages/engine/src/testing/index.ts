export { MemorySink, refuse, type SinkFaults } from './memory-sink.ts';
export {
  type MemoryRecord,
  MemorySource,
  type MemorySourceOptions,
  MemoryTopic,
  type SourceFaults,
} from './memory-source.ts';
export { Rig, type RigOptions, to, WORDS } from './rig.ts';
export { VirtualClock } from './virtual-clock.ts';
