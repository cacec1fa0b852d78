/** Nodes and pods for tests of decisions. */
import type { Node, Pod } from '@polder/kube';
import { namespaceLabels } from './affinity-term.ts';
import { Occupancy } from './occupancy.ts';
import type { Surroundings } from './refusal.ts';
import { NO_STORAGE } from './volumes.ts';

export type PodSpec = NonNullable<Pod['spec']>;

export interface NodeParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Node['spec'];
  readonly allocatable?: Readonly<Record<string, string>>;
}

export function aNode(name: string, { labels = {}, spec = {}, allocatable = {} }: NodeParts = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable } },
  };
}

export interface PodParts extends Partial<PodSpec> {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The uid of its controller. */
  readonly owner?: string;
  /** On its way out. */
  readonly isLeaving?: boolean;
}

export function aPod(name: string, parts: PodParts = {}): Pod {
  const { namespace = 'default', labels = {}, owner, isLeaving = false, ...spec } = parts;
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: `${namespace}/${name}`,
      labels,
      ...(owner !== undefined && { ownerReferences: [{ ...reference, uid: owner }] }),
      ...(isLeaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { containers: [{ name: 'c', image: 'nginx' }], ...spec },
  };
}

export function asking(requests: Readonly<Record<string, string>>): Pick<PodSpec, 'containers'> {
  return { containers: [{ name: 'c', image: 'nginx', resources: { requests } }] };
}

export function among(nodes: readonly Node[], pods: readonly Pod[], rest: Partial<Surroundings> = {}): Surroundings {
  return { occupancy: Occupancy.of(nodes, pods), namespaces: namespaceLabels([]), storage: NO_STORAGE, ...rest };
}
