export type { Clock, Timer } from './clock.ts';
export type { CheckpointStore, ReadEvents, Sink, Source } from './connector.ts';
export { type Flow, type FlowOptions, flowOf } from './flow.ts';
export type { Logger } from './log.ts';
export type { ErrorType, Failure, Message, Metadata, Origin } from './message.ts';
export { MetricsRegistry } from './metrics/index.ts';
export { Payload } from './payload.ts';
export * from './pipeline/index.ts';
export * from './transforms/index.ts';
