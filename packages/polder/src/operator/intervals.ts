import { DEFAULT_PACE, DEFAULT_TIMINGS, type Durations, type Pace, type Timings } from '@polder/kube';

/** Under this name the configuration has what all products share. */
export const SHARED = 'operator';

/** What the program itself waits for, whichever products it runs. */
export const sharedIntervals = {
  leaseDuration: {
    default: DEFAULT_TIMINGS.leaseMs,
    comment: 'After so long without a sign of life of the leader another operator takes over. Whole seconds.',
  },
  leaseRenewDeadline: {
    default: DEFAULT_TIMINGS.renewDeadlineMs,
    comment: 'So long a leader goes on that can not renew its lease. Shorter than leaseDuration.',
  },
  leaseRetryPeriod: {
    default: DEFAULT_TIMINGS.retryMs,
    comment: 'How often the leader renews its lease, and the others look at it.',
  },
  reconcileTimeout: {
    default: DEFAULT_PACE.passTimeoutMs,
    comment: 'A look at one resource that takes longer is given up and tried again.',
  },
  firstRetry: {
    default: DEFAULT_PACE.firstRetryMs,
    comment: 'How long a resource waits after a failure; twice as long after each further one in a row.',
  },
  longestRetry: { default: DEFAULT_PACE.longestRetryMs, comment: 'How long it waits at most.' },
  afterSteps: {
    default: DEFAULT_PACE.afterStepsMs,
    comment: 'How soon a resource is looked at again after something was done about it that no watch tells of.',
  },
  shutdownGrace: {
    default: 30_000,
    comment: 'So long a stop waits for what is under way. Shorter than the grace period of the pod.',
  },
  webhookTimeout: {
    default: 5_000,
    comment: 'So long the API server waits for the webhook before it goes on without. Whole seconds, at most 30s.',
  },
  scrapeTimeout: { default: 3_000, comment: 'How long a processor may take to tell its metrics.' },
  metricsTimeout: {
    default: 8_000,
    comment: 'After so long /metrics answers with what it has. Shorter than the scrape timeout of Prometheus.',
  },
} as const;

export type SharedDurations = Durations<typeof sharedIntervals>;

export const timingsOf = (durations: SharedDurations): Timings => ({
  leaseMs: durations.leaseDuration,
  renewDeadlineMs: durations.leaseRenewDeadline,
  retryMs: durations.leaseRetryPeriod,
});

export const paceOf = (durations: SharedDurations): Pace => ({
  passTimeoutMs: durations.reconcileTimeout,
  firstRetryMs: durations.firstRetry,
  longestRetryMs: durations.longestRetry,
  afterStepsMs: durations.afterSteps,
});
