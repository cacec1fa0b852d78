import type { Kind, KubernetesObject } from '../kinds/index.ts';

/** `coordination.k8s.io/v1` Lease: who leads, and since when nobody heard of them. */
export interface Lease extends KubernetesObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export const LEASES: Kind<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
