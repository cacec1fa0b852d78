import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '@polder/kube';
import { type AffinityTerm, affinityTerm, type Labels } from './affinity-term.ts';
import { type Amounts, requestsOf } from './amounts.ts';

/** What the scheduler has to know of a pod, worked out once. */
export interface PodFacts {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly requests: Amounts;
  readonly ports: readonly HostPort[];
  /** The uid of the workload that controls it. */
  readonly owner: string | undefined;
  readonly isLeaving: boolean;
  readonly near: readonly AffinityTerm[];
  readonly apart: readonly AffinityTerm[];
  /** Negative weights would rather be apart. */
  readonly preferred: readonly { readonly term: AffinityTerm; readonly weight: number }[];
}

export interface HostPort {
  /** `TCP/8080`. */
  readonly port: string;
  readonly address: string;
}

export function podFacts(pod: Pod): PodFacts {
  const { metadata, spec } = pod;
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  const terms = (given: readonly PodAffinityTerm[] = []) => given.map((term) => affinityTerm(term, pod));
  const weighted = (given: readonly WeightedPodAffinityTerm[] = [], sign: number) =>
    given.map(({ podAffinityTerm, weight }) => ({ term: affinityTerm(podAffinityTerm, pod), weight: sign * weight }));
  return {
    pod,
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    labels: metadata.labels ?? {},
    requests: requestsOf(pod),
    ports: hostPortsOf(pod),
    owner: metadata.ownerReferences?.find(({ controller }) => controller)?.uid,
    isLeaving: metadata.deletionTimestamp !== undefined,
    near: terms(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    apart: terms(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: [
      ...weighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
  };
}

export const ANY_ADDRESS = '0.0.0.0';

function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...(spec?.containers ?? []), ...sidecars].flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort = 0 }) => hostPort > 0)
      .map(({ hostPort, protocol = 'TCP', hostIP = '' }) => ({
        port: `${protocol}/${hostPort}`,
        address: hostIP === '' ? ANY_ADDRESS : hostIP,
      })),
  );
}
