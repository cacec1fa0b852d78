export type { Clock, Timer } from './clock.ts';
export type { CheckpointStore, ReadEvents, Sink, Source } from './connector.ts';
export type { Logger } from './log.ts';
export type { ErrorType, Failure, Message, Metadata, Origin } from './message.ts';
export { Payload } from './payload.ts';
export * from './pipeline/index.ts';
export * from './transforms/index.ts';
