/** A pod of a set, made for one node. */
import { DaemonSet, type NewObject, type Pod } from '@polder/kube';
import { newPod } from '../pods/index.ts';
import type { Revision } from '../revisions/index.ts';
import { tolerationsOf } from './eligibility.ts';

export const REVISION_LABEL = 'controller-revision-hash';
const GENERATION_LABEL = 'pod-template-generation';
const GENERATION = 'deprecated.daemonset.template.generation';
const NODE_NAME = 'metadata.name';

export function newDaemon(set: DaemonSet, node: string, { template, hash }: Revision): NewObject<Pod> {
  const pod = newPod(DaemonSet, set, template);
  const generation = set.metadata.annotations?.[GENERATION];
  const labels = {
    ...pod.metadata.labels,
    [REVISION_LABEL]: hash,
    ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
  };
  const spec = template.spec ?? { containers: [] };
  // Through the scheduler, which is asked for this one node: so a daemon waits, like any other pod, for room on it.
  const onNode = {
    nodeSelectorTerms: [{ matchFields: [{ key: NODE_NAME, operator: 'In' as const, values: [node] }] }],
  };
  const nodeAffinity = { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: onNode };
  return {
    metadata: { ...pod.metadata, labels },
    spec: { ...spec, affinity: { ...spec.affinity, nodeAffinity }, tolerations: tolerationsOf(spec) },
  };
}

/** The node that a daemon is on, or is meant for; undefined if it was made by somebody else. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const fields = required?.nodeSelectorTerms.flatMap(({ matchFields = [] }) => matchFields) ?? [];
  const names = fields.find(({ key, operator }) => key === NODE_NAME && operator === 'In')?.values ?? [];
  return names.length === 1 ? names[0] : undefined;
}

export const isOf = ({ metadata }: Pod, { hash }: Revision) => metadata.labels?.[REVISION_LABEL] === hash;

/** Those with a node first, then the oldest. */
export function byAge(a: Pod, b: Pod): number {
  const key = ({ metadata, spec }: Pod) => [
    spec?.nodeName ? '0' : '1',
    metadata.creationTimestamp ?? '',
    metadata.name,
  ];
  const [one, other] = [key(a).join(' '), key(b).join(' ')];
  return one < other ? -1 : 1;
}
