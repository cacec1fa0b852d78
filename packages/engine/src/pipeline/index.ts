export { type Batching, LONGEST_WAIT_MS } from './batcher.ts';
export { Chain, type Step } from './chain.ts';
export { errorRecord } from './error-record.ts';
export type { AckPolicy } from './error-sink.ts';
export { type Connector, ERROR, type Failed, MAIN, type Outlet, type PipelineEvents } from './events.ts';
export type { Registry } from './metric-names.ts';
export { type Gauged, type MetricsOptions, PipelineMetrics } from './metrics.ts';
export { type Destination, type Ending, LIMITS, type Limits, Pipeline, type PipelineOptions } from './pipeline.ts';
export { RETRY, type Retry } from './retry.ts';
