import { type Clock, controller, Node, type Plan, Pod, type PodStatus, type World, watch } from '@polder/kube';
import { isFailed, isTerminating } from '../controllers/pods/index.ts';
import { FirstSeen } from './first-seen.ts';
import { tolerates } from './taints.ts';

export type EvictionStep =
  | { readonly do: 'evict-pod'; readonly because: string; readonly pod: Pod; readonly at: Date }
  | { readonly do: 'end-pod'; readonly because: string; readonly pod: Pod; readonly at: Date };

export interface Observed {
  /** Undefined if the pod has none, or one that does not exist. */
  readonly node: Node | undefined;
  /** Since when the node has been missing, or has had a taint that lets pods stay only for a while. In milliseconds. */
  readonly since: number;
}

/** So long a node may be missing: one that comes back at once, or is registered after its first pods, keeps them. */
const MISSING_MS = 40_000;

/**
 * Takes pods away from nodes where they can't stay: those that do not tolerate a taint (NoExecute) or have for long enough,
 * and those whose node is gone, for which no kubelet will ever speak again.
 */
export function evictions(clock: Clock) {
  // As in the real controllers a restart begins to count anew: pods then stay longer, never shorter.
  const missing = new FirstSeen(clock);
  const tainted = new FirstSeen(clock);
  return controller({
    kind: Pod,
    watches: [
      watch(Node, ({ metadata }, cached) =>
        cached
          .list(Pod)
          .filter(({ spec }) => spec?.nodeName === metadata.name)
          .map((pod) => pod.metadata),
      ),
    ],
    seesDeleted: true,
    forget: ({ namespace, name }) => tainted.forget(`${namespace}/${name}`),
    observe: async ({ metadata, spec }: Pod, { cluster }: World): Promise<Observed> => {
      const { nodeName = '' } = spec ?? {};
      const node = nodeName === '' ? undefined : await cluster.get(Node, { name: nodeName });
      const pod = `${metadata.namespace}/${metadata.name}`;
      if (!node) return { node, since: missing.since(nodeName) };
      missing.forget(nodeName);
      if (evictingTaints(node).length > 0) return { node, since: tainted.since(pod) };
      tainted.forget(pod);
      return { node, since: clock.now() };
    },
    plan: planEviction,
    steps: {
      'evict-pod': async ({ pod, at }: Extract<EvictionStep, { do: 'evict-pod' }>, { cluster, tell }) => {
        const { namespace, name } = pod.metadata;
        const note = `Marking for deletion Pod ${namespace}/${name}`;
        tell({ type: 'Normal', reason: 'TaintManagerEviction', action: 'Evict', note });
        const because = ['DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'] as const;
        await cluster.applyStatus(Pod, pod, { conditions: [disruption(because, at)] });
        await cluster.delete(Pod, pod);
      },
      'end-pod': async ({ pod, at }: Extract<EvictionStep, { do: 'end-pod' }>, { cluster }) => {
        if (!hasEnded(pod)) {
          const because = ['DeletionByPodGC', 'PodGC: node no longer exists'] as const;
          const conditions = pod.spec?.nodeName ? [disruption(because, at)] : [];
          await cluster.applyStatus(Pod, pod, { phase: 'Failed', conditions });
        }
        await cluster.delete(Pod, pod, { gracePeriodSeconds: 0 });
      },
    },
    status: 'as-planned',
  });
}

export function planEviction(pod: Pod, { node, since }: Observed, now: Date): Plan<EvictionStep, PodStatus> {
  const idle = { objects: [], steps: [], held: [], status: pod.status ?? {} };
  const due = dueOf(pod, node);
  if (due === undefined) return idle;
  const { afterMs, ...step } = due;
  const wait = since + afterMs - now.getTime();
  if (wait > 0) return { ...idle, lookAgain: { afterMs: wait, because: step.because } };
  return { ...idle, steps: [{ ...step, pod, at: now }] };
}

type Due = Pick<EvictionStep, 'do' | 'because'> & { readonly afterMs: number };

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

function isOutOfService({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
  return !isReady && (spec?.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');
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

function disruption([reason, message]: readonly [string, string], at: Date) {
  const lastTransitionTime = `${at.toISOString().slice(0, 19)}Z`;
  return { type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime };
}
