import type { Meters } from './meters.ts';

/** Of `controller_runtime_reconcile_time_seconds`. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** Of the work queue: 10 ns to 1000 s, by tens. */
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/**
 * The metrics of the runtime. Names, labels and buckets are those of controller-runtime and client-go, so that dashboards and
 * alerts made for any other operator work for this one; the last group is ours, because nobody else has it.
 */
export function runtimeMetrics({ counter, gauge, histogram }: Meters) {
  return {
    reconciles: counter(
      'controller_runtime_reconcile_total',
      'Reconciliations by how they ended',
      'controller',
      'result',
    ),
    reconcileErrors: counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed', 'controller'),
    terminalErrors: counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Reconciliations that failed and are not tried again',
      'controller',
    ),
    reconcilePanics: counter('controller_runtime_reconcile_panics_total', 'Reconciliations that threw', 'controller'),
    reconcileTimeouts: counter(
      'controller_runtime_reconcile_timeouts_total',
      'Reconciliations that took too long',
      'controller',
    ),
    reconcileSeconds: histogram(
      'controller_runtime_reconcile_time_seconds',
      'How long reconciliations took',
      RECONCILE_BUCKETS,
      'controller',
    ),
    maxConcurrentReconciles: gauge(
      'controller_runtime_max_concurrent_reconciles',
      'How many reconciliations may run at once',
      'controller',
    ),
    activeWorkers: gauge('controller_runtime_active_workers', 'How many reconciliations run', 'controller'),

    queueDepth: gauge('workqueue_depth', 'Keys that could be taken now', 'name', 'controller', 'priority'),
    queueAdds: counter('workqueue_adds_total', 'Keys added', 'name', 'controller'),
    queueRetries: counter('workqueue_retries_total', 'Keys added again after a failure', 'name', 'controller'),
    queueSeconds: histogram(
      'workqueue_queue_duration_seconds',
      'How long keys waited, ready, for a worker',
      QUEUE_BUCKETS,
      'name',
      'controller',
    ),
    workSeconds: histogram(
      'workqueue_work_duration_seconds',
      'How long keys were worked on',
      QUEUE_BUCKETS,
      'name',
      'controller',
    ),
    unfinishedSeconds: gauge(
      'workqueue_unfinished_work_seconds',
      'How long the keys in work have been there, all together',
      'name',
      'controller',
    ),
    longestSeconds: gauge(
      'workqueue_longest_running_processor_seconds',
      'How long the key that is longest in work has been there',
      'name',
      'controller',
    ),

    requests: counter('rest_client_requests_total', 'Answers of the API server', 'code', 'method', 'host'),
    isLeader: gauge('leader_election_master_status', '1 if this process leads, else 0', 'name'),

    webhookRequests: counter('controller_runtime_webhook_requests_total', 'Webhook calls', 'webhook', 'code'),
    webhookSeconds: histogram(
      'controller_runtime_webhook_latency_seconds',
      'How long webhooks took',
      undefined,
      'webhook',
    ),
    webhooksInFlight: gauge('controller_runtime_webhook_requests_in_flight', 'Webhook calls under way', 'webhook'),
    webhookPanics: counter('controller_runtime_webhook_panics_total', 'Webhooks that threw'),
    conversionPanics: counter('controller_runtime_conversion_webhook_panics_total', 'Conversion webhooks that threw'),
    certificateReads: counter('certwatcher_read_certificate_total', 'Readings of certificate files'),
    certificateErrors: counter(
      'certwatcher_read_certificate_errors_total',
      'Readings of certificate files that failed',
    ),

    watchSilence: gauge('reflector_silence_seconds', 'Since when nothing was heard of a watch', 'resource'),
    watchFetches: counter(
      'reflector_fetches_total',
      'Whole pictures fetched, by what made it necessary',
      'resource',
      'cause',
    ),
    cacheObjects: gauge('cache_objects', 'Objects in the cache', 'resource'),
    staleWaits: histogram(
      'cache_staleness_wait_seconds',
      'How long reads waited for the cache to show our own writes',
      undefined,
      'resource',
    ),
  };
}

export type RuntimeMetrics = ReturnType<typeof runtimeMetrics>;
