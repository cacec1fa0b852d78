export type { CheckpointStore, Sink, Source } from './connector.ts';
export type { ErrorType, Failure, Message, Metadata, Origin } from './message.ts';
export { Payload } from './payload.ts';
export * from './transforms/index.ts';
