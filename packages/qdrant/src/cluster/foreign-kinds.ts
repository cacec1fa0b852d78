/**
 * Kinds that a cluster has only if somebody installed them. They are never watched: whoever waits for the first list of a
 * kind that is not there waits for ever. They are read when they matter, and that they are missing is a value.
 */
import type { Kind, KubernetesObject } from '@polder/kube';

/** Of the Prometheus operator. */
export interface ServiceMonitor extends KubernetesObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

export const ServiceMonitor: Kind<ServiceMonitor> = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
};

/** Of the external snapshotter. */
export interface VolumeSnapshot extends KubernetesObject {
  readonly spec: {
    readonly volumeSnapshotClassName?: string;
    readonly source: { readonly persistentVolumeClaimName: string };
  };
  readonly status?: {
    readonly readyToUse?: boolean;
    readonly error?: { readonly message?: string };
  };
}

export const VolumeSnapshot: Kind<VolumeSnapshot> = {
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  kind: 'VolumeSnapshot',
  plural: 'volumesnapshots',
  namespaced: true,
};
