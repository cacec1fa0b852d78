/** A ServiceMonitor, where the Prometheus operator is installed. Where it is not, that is told and nothing else is wrong. */
import { isDeepStrictEqual } from 'node:util';
import type { NewCondition } from '@polder/kube';
import { isMonitored, MONITORED, serviceMonitor } from '../objects/index.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

export function monitoring({ cluster, observed }: Situation): readonly ClusterStep[] {
  if (!observed.monitor.known) return [];
  const before = observed.monitor.value;
  const isOurs = before?.metadata.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid) ?? false;
  if (!cluster.spec.metrics?.serviceMonitor?.enabled) {
    const because = 'spec.metrics.serviceMonitor.enabled is false';
    return before && isOurs ? [{ do: 'remove-monitor', because, monitor: before }] : [];
  }
  const monitor = serviceMonitor(cluster);
  if (before && (!isOurs || contains(before.spec, monitor.spec))) return [];
  const because = before ? 'somebody changed it' : 'there is none yet';
  return [{ do: 'write-monitor', because, cluster, monitor, before }];
}

/** Whether all that is wanted is there; what a server adds is its own affair. */
function contains(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(there) && there.length === wanted.length && wanted.every((one, at) => contains(there[at], one))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return isDeepStrictEqual(there, wanted);
  const entries = new Map(Object.entries(typeof there === 'object' && there !== null ? there : {}));
  return Object.entries(wanted).every(([key, value]) => contains(entries.get(key), value));
}

export function monitorCondition({ cluster, observed }: Situation): readonly NewCondition[] {
  const said = (status: 'True' | 'False', reason: string, message: string) => [
    { type: MONITORED, status, reason, message },
  ];
  if (!cluster.spec.metrics?.serviceMonitor?.enabled) {
    return isMonitored(cluster) ? said('False', 'Disabled', 'spec.metrics.serviceMonitor.enabled is false') : [];
  }
  return observed.monitor.known ? said('True', 'Applied', '') : said('False', 'Unavailable', observed.monitor.because);
}
