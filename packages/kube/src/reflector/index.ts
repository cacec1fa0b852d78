export {
  type ChangeEvent,
  Reflector,
  type ReflectorEvents,
  type ReflectorOptions,
  type ReflectorSink,
} from './reflector.ts';
