export type { Happening, Reporter } from './event.ts';
export { microTime } from './micro-time.ts';
export { EventRecorder, type EventRecorderOptions } from './recorder.ts';
