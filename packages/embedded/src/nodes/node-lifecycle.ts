import { controller, Node, type NodeStatus, type Plan, type Taint, timestamp } from '@polder/kube';
import type { RegisteredNode } from './node-objects.ts';
import { UNSCHEDULABLE } from './taints.ts';

interface SetTaints {
  readonly do: 'set-taints';
  readonly because: string;
  readonly node: Node;
  readonly taints: readonly Taint[];
}

/**
 * Keeps the taints of every node in step with its conditions and its cordon, and the status of our own nodes as it was
 * registered: they have no kubelet that would post it again. Nothing beats: a node that is well is not written to.
 */
export const nodeLifecycle = (own: readonly RegisteredNode[]) => {
  const registered = new Map(own.map((node) => [node.metadata.name, node]));
  return controller({
    kind: Node,
    observe: async ({ metadata }) => registered.get(metadata.name),
    plan: planNode,
    steps: {
      'set-taints': async ({ node, taints }: SetTaints, { cluster }) => {
        const { resourceVersion } = node.metadata;
        // The list is replaced as a whole: whoever added one since is not to lose it.
        const body = { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
        await cluster.patch(Node, node.metadata, { type: 'merge', body });
      },
    },
    status: 'as-planned',
  });
};

function planNode(node: Node, own: RegisteredNode | undefined, now: Date): Plan<SetTaints, NodeStatus> {
  const before = node.spec?.taints ?? [];
  const taints = taintsOf(node, now);
  const isSame = taints.length === before.length && taints.every((taint) => before.includes(taint));
  const because = 'taints follow conditions and cordon';
  return {
    objects: [],
    steps: isSame ? [] : [{ do: 'set-taints', because, node, taints }],
    held: [],
    status: own ? statusOf(node, own, now) : (node.status ?? {}),
  };
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** Which status of which condition keeps new pods away, and by which taint. */
const TROUBLES = [
  { type: 'Ready', status: 'False', key: NOT_READY },
  { type: 'Ready', status: 'Unknown', key: UNREACHABLE },
  { type: 'MemoryPressure', status: 'True', key: 'node.kubernetes.io/memory-pressure' },
  { type: 'DiskPressure', status: 'True', key: 'node.kubernetes.io/disk-pressure' },
  { type: 'PIDPressure', status: 'True', key: 'node.kubernetes.io/pid-pressure' },
  { type: 'NetworkUnavailable', status: 'True', key: 'node.kubernetes.io/network-unavailable' },
];

/** The taints of others stay, and so do those of ours that still hold. */
function taintsOf({ spec, status }: Node, now: Date): readonly Taint[] {
  const before = spec?.taints ?? [];
  const keys = TROUBLES.filter((trouble) =>
    status?.conditions?.some(({ type, status: is }) => type === trouble.type && is === trouble.status),
  ).map(({ key }) => key);
  const wanted: readonly Taint[] = [
    ...keys.map((key): Taint => ({ key, effect: 'NoSchedule' })),
    ...(spec?.unschedulable ? [UNSCHEDULABLE] : []),
    ...keys.filter(isEvicting).map((key): Taint => ({ key, effect: 'NoExecute', timeAdded: timestamp(now) })),
  ];
  const kept = before.filter((taint) => !isOurs(taint) || wanted.some((one) => isSame(one, taint)));
  return [...kept, ...wanted.filter((taint) => !kept.some((one) => isSame(one, taint)))];
}

/** Pods do not stay where nobody looks after them. */
const isEvicting = (key: string) => key === NOT_READY || key === UNREACHABLE;

function isOurs({ key, effect }: Taint): boolean {
  if (effect === 'NoExecute') return isEvicting(key);
  return effect === 'NoSchedule' && (key === UNSCHEDULABLE.key || TROUBLES.some((trouble) => trouble.key === key));
}

const isSame = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;

/** Conditions that say what they should keep their times; those of others stay. */
function statusOf({ status }: Node, own: RegisteredNode, now: Date): NodeStatus {
  const before = status?.conditions ?? [];
  const conditions = (own.status.conditions ?? []).map((wanted) => {
    const old = before.find(({ type }) => type === wanted.type);
    if (old?.status === wanted.status && old.reason === wanted.reason) return old;
    return { ...wanted, lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) };
  });
  const others = before.filter(({ type }) => !conditions.some((one) => one.type === type));
  return { ...status, ...own.status, conditions: [...conditions, ...others] };
}
