/** How long the controllers of each product wait for things: what the configuration can change, known before any product is loaded. */
import { DEFAULTS as DATAFLOW } from '@polder/dataflow/settings';
import { DEFAULTS as QDRANT } from '@polder/qdrant/settings';

export const dataflowIntervals = {
  metricsInterval: {
    default: DATAFLOW.intervals.metricsMs,
    comment: 'How often a processor is asked for its counters. What it counts after the last time dies with it.',
  },
  countsInterval: {
    default: DATAFLOW.intervals.countsMs,
    comment: 'How often counts alone are worth a write of the status.',
  },
};

export const qdrantIntervals = {
  periodicReconcile: {
    default: QDRANT.intervals.periodicMs,
    comment: 'How often a cluster is looked at whether or not anything happened.',
  },
  progressInterval: {
    default: QDRANT.intervals.progressMs,
    comment: 'How soon a cluster is looked at again while something is under way that no event tells of.',
  },
  readTimeout: { default: QDRANT.intervals.readTimeoutMs, comment: 'How long a peer may take to answer a question.' },
  writeTimeout: {
    default: QDRANT.intervals.writeTimeoutMs,
    comment: 'How long a peer may take to do what it is told: others have to agree first. At least 3s.',
  },
  apiTimeout: {
    default: 10_000,
    comment: 'How long a call of the Qdrant API (--api-bind-address) waits for the API server.',
  },
};
