import { isDeepStrictEqual } from 'node:util';
import type { Namespace, NamespaceStatus, Plan } from '@polder/kube';
import { conditionsOf, type Findings } from './conditions.ts';
import type { Content } from './contents.ts';

/** Ours among the finalizers in a namespace's spec. */
export const FINALIZER = 'kubernetes';

export type NamespaceStep =
  | {
      readonly do: 'delete-contents';
      readonly because: string;
      readonly namespace: string;
      readonly resources: readonly string[];
    }
  | { readonly do: 'finalize'; readonly because: string; readonly namespace: string };

/**
 * Pods go first, and everything else only when the last of them is gone: what they need to end in order (their secrets, the
 * policies that fence them in) is there until then.
 */
export function planNamespace(
  namespace: Namespace,
  contents: readonly Content[],
  now: Date,
): Plan<NamespaceStep, NamespaceStatus> {
  const { metadata, spec, status = {} } = namespace;
  const idle = { objects: [], steps: [], held: [], status };
  if (metadata.deletionTimestamp === undefined || spec?.finalizers?.includes(FINALIZER) !== true) return idle;

  const pods = contents.filter(({ resource }) => resource === 'pods');
  const batch = pods.length > 0 ? pods : contents;
  const unasked = batch.filter(({ objects }) => objects.some((object) => !object.metadata.deletionTimestamp));
  if (unasked.length > 0) {
    const resources = unasked.map(({ resource }) => resource);
    const because = 'the namespace is being deleted';
    return { ...idle, steps: [{ do: 'delete-contents', because, namespace: metadata.name, resources }] };
  }

  const stuck = stuckPods(pods, metadata.deletionTimestamp);
  const isOverdue = stuck !== undefined && stuck.at <= now.getTime();
  const failures = isOverdue
    ? [`unexpected items still remain in namespace: ${metadata.name} for gvr: /v1, Resource=pods`]
    : [];
  // While there are pods, the real controller says nothing of what remains.
  const findings: Findings = { failures, ...(pods.length === 0 && remainingIn(contents)) };
  const conditions = conditionsOf(status.conditions ?? [], findings, now);
  const isReported = isDeepStrictEqual(status.conditions, conditions);
  // The last word is written while there is still something to write it on.
  const isDone = contents.length === 0 && isReported;
  const because = 'nothing is left in the namespace';
  return {
    ...idle,
    steps: isDone ? [{ do: 'finalize', because, namespace: metadata.name }] : [],
    status: { ...status, conditions },
    ...(stuck &&
      !isOverdue && {
        lookAgain: { afterMs: stuck.at - now.getTime(), because: 'its pods should be gone by then' },
      }),
  };
}

function remainingIn(contents: readonly Content[]): Findings {
  const finalizers = new Map<string, number>();
  for (const { metadata } of contents.flatMap(({ objects }) => objects)) {
    for (const one of metadata.finalizers ?? []) finalizers.set(one, (finalizers.get(one) ?? 0) + 1);
  }
  return { remaining: new Map(contents.map(({ resource, objects }) => [resource, objects.length])), finalizers };
}

/** Until when pods have time that no finalizer keeps; undefined if there are none. */
function stuckPods(pods: readonly Content[], deletedAt: string): { readonly at: number } | undefined {
  const all = pods.flatMap(({ objects }) => objects);
  if (all.length === 0 || all.some(({ metadata }) => (metadata.finalizers?.length ?? 0) > 0)) return undefined;
  const grace = Math.max(...all.map(({ metadata }) => metadata.deletionGracePeriodSeconds ?? 0));
  return { at: Date.parse(deletedAt) + grace * 1000 };
}
