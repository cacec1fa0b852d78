import type { DaemonSet, Node, Pod } from '@polder/kube';
import type { Revision } from '../../revisions/index.ts';
import type { Claim } from '../eligibility.ts';
import type { Limits } from '../limits.ts';
import type { Observed } from '../observe.ts';

/** What the parts of a plan decide by. */
export interface Scene extends Pick<Observed, 'waits'> {
  readonly set: DaemonSet;
  /** Sorted by name, so that a plan does not depend on the order in which nodes are seen. */
  readonly places: readonly Place[];
  /** Made for nodes that are gone. */
  readonly homeless: readonly Pod[];
  readonly newest: Revision;
  readonly limits: Limits;
  readonly minReadySeconds: number;
  readonly now: Date;
}

/** A node, what the set wants with it, and its daemons, the oldest first. */
export interface Place {
  readonly node: Node;
  readonly claim: Claim;
  readonly pods: readonly Pod[];
}
