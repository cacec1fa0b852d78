export type Labels = Readonly<Record<string, string>>;

/** Where series are made. */
export interface Registry {
  counter(definition: Definition): Counter;
  gauge(definition: Definition): Gauge;
  histogram(definition: Definition & { readonly buckets: readonly number[] }): Histogram;
}

export interface Definition {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

export interface Counter {
  labels(labels: Labels): { inc(by?: number): void };
}

export interface Gauge {
  labels(labels: Labels): { set(value: number): void };
}

export interface Histogram {
  labels(labels: Labels): { observe(value: number): void };
}

const doubling = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first * 2 ** i);

/** The names, labels and buckets that dashboards and alerts were made for. */
export function metricsIn(registry: Registry) {
  const define = (name: string, help: string, labels: readonly string[]): Definition => ({
    name: `dataflow_${name}`,
    help,
    labelNames: ['namespace', 'name', ...labels],
  });
  const counter = (name: string, help: string, ...labels: string[]) => registry.counter(define(name, help, labels));
  const gauge = (name: string, help: string, ...labels: string[]) => registry.gauge(define(name, help, labels));
  const histogram = (name: string, help: string, buckets: number[], ...labels: string[]) =>
    registry.histogram({ ...define(name, help, labels), buckets });
  const connector = ['connector_type', 'connector_name'];
  const transformer = ['transformer_type', 'transformer_index'];
  return {
    received: counter('messages_received_total', 'Messages read from the source.', 'source_type'),
    sent: counter('messages_sent_total', 'Messages written, by route.', 'sink_type', 'route'),
    processingDuration: histogram(
      'processing_duration_seconds',
      'Time of one message in all transformations.',
      doubling(0.001, 10),
    ),
    connectorRead: counter('connector_messages_read_total', 'Messages read by a connector.', ...connector),
    connectorWritten: counter('connector_messages_written_total', 'Messages a sink wrote.', ...connector, 'route'),
    connectorErrors: counter(
      'connector_errors_total',
      'Failed operations of a connector; each attempt counts.',
      ...connector,
      'operation',
      'error_type',
    ),
    connectionStatus: gauge('connector_connection_status', '1 while a connector works.', ...connector),
    transformerExecutions: counter('transformer_executions_total', 'Runs of a transformation.', ...transformer),
    transformerIn: counter('transformer_messages_in_total', 'Messages into a transformation.', ...transformer),
    transformerOut: counter('transformer_messages_out_total', 'Messages out of a transformation.', ...transformer),
    transformerErrors: counter(
      'transformer_errors_total',
      'Messages that a transformation failed on.',
      ...transformer,
      'error_type',
    ),
    transformerDuration: histogram(
      'transformer_duration_seconds',
      'Time of one message in a transformation.',
      doubling(0.0001, 12),
      ...transformer,
    ),
    stageDuration: histogram('task_stage_duration_seconds', 'Time in a stage.', doubling(0.0001, 14), 'stage'),
    messageSize: histogram('task_message_size_bytes', 'Sizes of payloads.', doubling(64, 16), 'stage'),
    stageLatency: histogram(
      'task_stage_latency_seconds',
      'Time between two stages.',
      doubling(0.0001, 12),
      'from_stage',
      'to_stage',
    ),
    throughput: gauge('task_throughput_messages_per_second', 'Messages written per second, lately.'),
    successRate: gauge('task_success_rate', 'Share of messages that were written where they should be.'),
    endToEndLatency: histogram(
      'task_end_to_end_latency_seconds',
      'Time from reading a message until it is durable.',
      doubling(0.001, 12),
    ),
    activeMessages: gauge('task_active_messages', 'Messages on their way.'),
    queueSize: gauge('task_queue_size', 'Messages that wait for a sink or are being written.', 'queue_type'),
    queueWait: histogram(
      'task_queue_wait_time_seconds',
      'How long the first message of a batch waited for its sink.',
      doubling(0.0001, 12),
      'queue_type',
    ),
    operations: counter('task_operations_total', 'Operations, by how they ended.', 'operation', 'status'),
    stageErrors: counter('task_stage_errors_total', 'Errors in a stage.', 'stage', 'error_type'),
  };
}
