import type { Deployment, NewObject, ReplicaSet } from '@polder/kube';
import type { Claimant } from '../../ownership.ts';
import type { Conditions } from '../conditions.ts';
import { sizeOf } from '../limits.ts';
import { sizeAnnotations } from '../revisions.ts';
import { annotated, isUpToDate, respecified } from './sets.ts';

export type DeploymentStep =
  | { readonly do: 'adopt-replica-set'; readonly because: string; readonly set: ReplicaSet; readonly by: Claimant }
  | {
      readonly do: 'release-replica-set';
      readonly because: string;
      readonly set: ReplicaSet;
      readonly ownerUid: string;
    }
  | { readonly do: 'create-replica-set'; readonly because: string; readonly set: NewSet }
  | { readonly do: 'annotate-replica-set'; readonly because: string; readonly set: ReplicaSet }
  | {
      readonly do: 'scale-replica-set';
      readonly because: string;
      readonly set: ReplicaSet;
      readonly from: number;
      readonly to: number;
    }
  | { readonly do: 'delete-replica-set'; readonly because: string; readonly set: ReplicaSet }
  | {
      readonly do: 'record-revision';
      readonly because: string;
      readonly deployment: Deployment;
      readonly revision: string;
    }
  | {
      readonly do: 'end-rollback';
      readonly because: string;
      /** As it is to be: without the request, and if it was granted with another template. */
      readonly deployment: Deployment;
      readonly reason: string;
    };

export type NewSet = NewObject<ReplicaSet>;

/**
 * A deployment while its pass is planned: its sets as they will be once the steps so far are carried out. What comes later
 * in the plan goes on from there.
 */
export interface Draft {
  readonly deployment: Deployment;
  /** The set of the deployment's own template, if there is one already. */
  readonly current: ReplicaSet | undefined;
  /** The others, oldest first. */
  readonly old: readonly ReplicaSet[];
  readonly steps: readonly DeploymentStep[];
  readonly conditions: Conditions;
  /** How often a set's name was taken by another one. */
  readonly collisionCount: number | undefined;
}

/** The current set last. */
export const setsOf = ({ current, old }: Draft): readonly ReplicaSet[] => (current ? [...old, current] : old);

/** Gives a set another size. Nothing happens if it has that size and knows the deployment's. */
export function scaled(draft: Draft, set: ReplicaSet, to: number, because: string): Draft {
  const { deployment } = draft;
  const from = sizeOf(set);
  if (from === to && isUpToDate(set, sizeAnnotations(deployment))) return draft;
  const told = annotated(set, sizeAnnotations(deployment));
  if (from === to) return withStep(replaced(draft, told), { do: 'annotate-replica-set', because, set: told });
  const after = respecified(told, { replicas: to });
  return withStep(replaced(draft, after), { do: 'scale-replica-set', because, set: after, from, to });
}

/** Gives a set another size, if it is another one; what it knows of the deployment's size alone is no reason. */
export function resized(draft: Draft, set: ReplicaSet, to: number, because: string): Draft {
  return sizeOf(set) === to ? draft : scaled(draft, set, to, because);
}

export function withStep(draft: Draft, step: DeploymentStep): Draft {
  return { ...draft, steps: [...draft.steps, step] };
}

export function replaced(draft: Draft, set: ReplicaSet): Draft {
  const isIt = ({ metadata }: ReplicaSet) => metadata.name === set.metadata.name;
  const { current, old } = draft;
  return {
    ...draft,
    current: current && isIt(current) ? set : current,
    old: old.map((one) => (isIt(one) ? set : one)),
  };
}
