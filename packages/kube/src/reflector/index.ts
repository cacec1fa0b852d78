export {
  type ChangeEvent,
  type Phase,
  Reflector,
  type ReflectorEvents,
  type ReflectorOptions,
  type ReflectorSink,
} from './reflector.ts';
export type { Ending } from './state.ts';
