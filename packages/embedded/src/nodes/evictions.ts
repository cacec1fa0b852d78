import {
  type Clock,
  controller,
  keyOf,
  Node,
  type Plan,
  Pod,
  type PodCondition,
  type PodStatus,
  type StepNamed,
  timestamp,
  type World,
  watch,
} from '@polder/kube';
import { isFailed, isReady, isTerminating, podCondition } from '../controllers/pods/index.ts';
import { FirstSeen } from './first-seen.ts';
import { tolerates } from './taints.ts';

type EvictionStep =
  | { readonly do: 'mark-unready'; readonly because: string; readonly pod: Pod; readonly at: Date }
  | { readonly do: 'evict-pod'; readonly because: string; readonly pod: Pod; readonly at: Date }
  | { readonly do: 'end-pod'; readonly because: string; readonly pod: Pod; readonly at: Date };

interface Observed {
  /** Undefined if the pod has none, or one that does not exist. */
  readonly node: Node | undefined;
  /** Since when the node has been missing, or has had taints that the pod puts up with only for a while. In milliseconds. */
  readonly since: number;
}

/**
 * So long a node may be missing: one that comes back at once, or is registered after its first pods, keeps them. The real
 * collector waits for 40 s, because its picture of the nodes may be as old as that; ours comes from the same process.
 */
const MISSING_MS = 5_000;

/**
 * Takes pods away from nodes where they can't stay: those that do not tolerate a taint (NoExecute) or have for long enough,
 * and those whose node is gone, for which no kubelet will ever speak again. Pods on a node that is not ready are not ready
 * either: nobody may be sent to them while they wait there.
 */
export function evictions(clock: Clock) {
  // As in the real controllers a restart begins to count anew: pods then stay longer, never shorter.
  const missing = new FirstSeen(clock);
  const tainted = new FirstSeen(clock);
  return controller({
    kind: Pod,
    reportsAs: 'taint-eviction-controller',
    watches: [
      watch(Node, ({ metadata }, cached) =>
        cached
          .list(Pod)
          .filter(({ spec }) => spec?.nodeName === metadata.name)
          .map((pod) => pod.metadata),
      ),
    ],
    seesDeleted: true,
    forget: (ref) => {
      missing.forget(keyOf(ref));
      tainted.forget(keyOf(ref));
    },
    observe: async (pod: Pod, { cluster }: World): Promise<Observed> => {
      const { nodeName = '' } = pod.spec ?? {};
      const key = keyOf(pod.metadata);
      const node = nodeName === '' ? undefined : await cluster.get(Node, { name: nodeName });
      if (!node) return { node, since: missing.since(key) };
      missing.forget(key);
      if (toleratedMs(pod, node) < Infinity) return { node, since: tainted.since(key) };
      tainted.forget(key);
      return { node, since: clock.now() };
    },
    plan: planEviction,
    steps: {
      'mark-unready': async ({ pod, at }: StepNamed<EvictionStep, 'mark-unready'>, { cluster, tell }) => {
        const condition = { type: 'Ready', status: 'False', lastTransitionTime: timestamp(at) };
        await cluster.applyStatus(Pod, pod, { conditions: [condition] });
        tell({ type: 'Warning', reason: 'NodeNotReady', action: 'MarkUnready', note: 'Node is not ready' });
      },
      'evict-pod': async ({ pod, at }: StepNamed<EvictionStep, 'evict-pod'>, { cluster, tell }) => {
        const { namespace, name } = pod.metadata;
        const note = `Marking for deletion Pod ${namespace}/${name}`;
        tell({ type: 'Normal', reason: 'TaintManagerEviction', action: 'Evict', note });
        const because = ['DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'] as const;
        await cluster.applyStatus(Pod, pod, { conditions: disrupted(pod, because, at) });
        await cluster.delete(Pod, pod);
      },
      'end-pod': async ({ pod, at }: StepNamed<EvictionStep, 'end-pod'>, { cluster }) => {
        if (!hasEnded(pod)) {
          const because = ['DeletionByPodGC', 'PodGC: node no longer exists'] as const;
          const conditions = pod.spec?.nodeName ? disrupted(pod, because, at) : [];
          await cluster.applyStatus(Pod, pod, { phase: 'Failed', conditions });
        }
        await cluster.delete(Pod, pod, { gracePeriodSeconds: 0 });
      },
    },
    status: 'as-planned',
  });
}

function planEviction(pod: Pod, { node, since }: Observed, now: Date): Plan<EvictionStep, PodStatus> {
  const unready: readonly EvictionStep[] =
    node && isLost(node) && isReady(pod) ? [{ do: 'mark-unready', because: 'its node is not', pod, at: now }] : [];
  const stays = { objects: [], steps: unready, held: [], status: pod.status ?? {} };
  const due = dueOf(pod, node);
  if (due === undefined) return stays;
  const { afterMs, ...step } = due;
  const wait = since + afterMs - now.getTime();
  if (wait > 0) return { ...stays, lookAgain: { afterMs: wait, because: step.because } };
  return { ...stays, steps: [{ ...step, pod, at: now }] };
}

type Due = { readonly do: 'evict-pod' | 'end-pod'; readonly because: string; readonly afterMs: number };

/** What is to become of a pod, and after how long; undefined if it may stay. */
function dueOf(pod: Pod, node: Node | undefined): Due | undefined {
  const { metadata, spec } = pod;
  const isOver = metadata.deletionGracePeriodSeconds === 0; // only finalizers keep it
  if (isTerminating(pod) && isOver) return undefined;
  if ((spec?.nodeName ?? '') === '') {
    return isTerminating(pod) ? { do: 'end-pod', because: 'it never had a node', afterMs: 0 } : undefined;
  }
  if (!node) return { do: 'end-pod', because: `node ${spec?.nodeName} does not exist`, afterMs: MISSING_MS };
  if (isTerminating(pod)) {
    return isOutOfService(node) ? { do: 'end-pod', because: 'its node is out of service', afterMs: 0 } : undefined;
  }
  const afterMs = toleratedMs(pod, node);
  return afterMs === Infinity ? undefined : { do: 'evict-pod', because: 'of the taints of its node', afterMs };
}

/** A node that says nothing about it is not lost: nobody may ever have spoken for it. */
const isLost = ({ status }: Node) =>
  status?.conditions?.some((one) => one.type === 'Ready' && one.status !== 'True') ?? false;

function isOutOfService(node: Node): boolean {
  return isLost(node) && (node.spec?.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');
}

const evictingTaints = ({ spec }: Node) => (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/** How long a pod puts up with the taints of a node: of several tolerations for the same taint only the first counts. */
function toleratedMs({ spec }: Pod, node: Node): number {
  const times = evictingTaints(node).map((taint) => {
    const used = spec?.tolerations?.find((toleration) => tolerates(toleration, taint));
    return used ? Math.max(0, used.tolerationSeconds ?? Infinity) * 1000 : 0;
  });
  return Math.min(Infinity, ...times);
}

const hasEnded = (pod: Pod) => isFailed(pod) || pod.status?.phase === 'Succeeded';

/** With what `mark-unready` may have said: what is applied a second time without it would be gone. */
function disrupted(pod: Pod, [reason, message]: readonly [string, string], at: Date): readonly PodCondition[] {
  const unready = podCondition(pod, 'Ready');
  return [
    ...(unready?.status === 'False' ? [unready] : []),
    { type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime: timestamp(at) },
  ];
}
