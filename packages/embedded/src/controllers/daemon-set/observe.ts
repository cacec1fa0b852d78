import { ControllerRevision, type DaemonSet, Node, Pod, type World } from '@polder/kube';
import { isFailed } from '../pods/index.ts';
import type { Revisions } from '../revisions/index.ts';
import { nodeOf } from './daemon.ts';
import type { FailureBackoff } from './failure-backoff.ts';

export interface Observed {
  readonly owned: readonly Pod[];
  readonly unowned: readonly Pod[];
  readonly revisions: Revisions;
  readonly nodes: readonly Node[];
  /** Until when a node's failed daemon is to be left as it is, in milliseconds. */
  readonly waits: ReadonlyMap<string, number>;
}

export async function observe(set: DaemonSet, { cluster }: World, failures: FailureBackoff): Promise<Observed> {
  const { namespace } = set.metadata;
  const owned = await cluster.owned(Pod, set);
  const failing = owned.filter(isFailed).flatMap((pod) => nodeOf(pod) ?? []);
  return {
    owned,
    unowned: await cluster.unowned(Pod, namespace),
    revisions: {
      owned: await cluster.owned(ControllerRevision, set),
      unowned: await cluster.unowned(ControllerRevision, namespace),
    },
    nodes: await cluster.list(Node),
    waits: new Map(failing.map((node) => [node, failures.until(failureKey(set, node)) ?? 0])),
  };
}

/** A new spec starts afresh. */
export const failureKey = ({ metadata, status }: DaemonSet, node: string) =>
  `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`;
