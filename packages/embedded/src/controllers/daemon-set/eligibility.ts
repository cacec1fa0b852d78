import type { DaemonSet, Node, Toleration } from '@polder/kube';
import { untolerated } from '../../nodes/index.ts';
import { isSelectedBy } from '../../scheduler/index.ts';

/** What a set wants with a node. `stay`: it starts nothing there, but leaves what runs. */
export type Claim = 'run' | 'stay' | 'leave';

export function claimOn(node: Node, { spec }: DaemonSet): Claim {
  const template = spec?.template.spec ?? { containers: [] };
  const { nodeName = '' } = template;
  if (nodeName !== '' && nodeName !== node.metadata.name) return 'leave';
  if (!isSelectedBy({ apiVersion: 'v1', kind: 'Pod', metadata: { name: '' }, spec: template }, node)) return 'leave';
  const tolerations = tolerationsOf(template);
  if (!untolerated(node.spec?.taints, tolerations, ['NoSchedule', 'NoExecute'])) return 'run';
  return untolerated(node.spec?.taints, tolerations, ['NoExecute']) ? 'leave' : 'stay';
}

/** A daemon is there because of its node, so it stays when the node is in trouble, and comes to one that takes no others. */
export function tolerationsOf({
  tolerations = [],
  hostNetwork = false,
}: {
  readonly tolerations?: readonly Toleration[];
  readonly hostNetwork?: boolean;
}): readonly Toleration[] {
  const automatic = [...ALWAYS, ...(hostNetwork ? [NETWORK_UNAVAILABLE] : [])];
  const kept = tolerations.filter((one) => !automatic.some((other) => isSame(one, other)));
  return [...kept, ...automatic];
}

const exists = (key: string, effect: Toleration['effect'] & string): Toleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect,
});

const ALWAYS = [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
  exists('pid-pressure', 'NoSchedule'),
  exists('unschedulable', 'NoSchedule'),
];
const NETWORK_UNAVAILABLE = exists('network-unavailable', 'NoSchedule');

/** But for how long. */
function isSame(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '');
}
