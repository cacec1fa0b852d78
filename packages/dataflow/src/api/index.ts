/** What the operator asks of processors: their counters. */
export { type Counts, countsIn } from './counts.ts';
export { type GetPage, metricsOverHttp } from './metrics-over-http.ts';
export { isSameRun, ProcessorCounters, type Reading, type ReadMetrics } from './processor-counters.ts';
