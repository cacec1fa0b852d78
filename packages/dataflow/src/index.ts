/**
 * The DataFlow operator. A DataFlow declares a pipeline; for each, a processor is run in a Deployment of its own, with its
 * spec, its secrets and its checkpoint beside it.
 */
import { type Clock, type Logger, type Product, register } from '@polder/kube';
import { ProcessorCounters, type ReadMetrics } from './api/index.ts';
import { dataflows } from './controller.ts';
import { SecretUsers } from './secret-users.ts';
import type { Settings } from './settings.ts';

export { type GetPage, metricsOverHttp, type ReadMetrics } from './api/index.ts';
export { DataFlow } from './kinds/index.ts';
export { DEFAULTS, type Intervals, type Settings, settingsIn } from './settings.ts';

export interface DataflowOptions {
  readonly settings: Settings;
  readonly readMetrics: ReadMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** The namespace of the lease. Without it this process always leads: then it must be the only one. */
  readonly leaseNamespace?: string | undefined;
}

/** The product, for a `Manager`. */
export function dataflow({ settings, readMetrics, clock, log, leaseNamespace }: DataflowOptions): Product {
  const { metricsMs: intervalMs } = settings.intervals;
  const memory = {
    counters: new ProcessorCounters({ readMetrics, clock, log, intervalMs }),
    secretUsers: new SecretUsers(),
  };
  return {
    name: 'dataflow',
    fieldManager: 'dataflow-operator',
    lease:
      leaseNamespace === undefined ? undefined : { namespace: leaseNamespace, name: 'dataflow-operator.dataflow.io' },
    controllers: [register(dataflows(settings, memory), (base) => ({ ...base, ...memory }))],
  };
}
