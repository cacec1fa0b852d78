import type { DaemonSetStatus, NewObject, Pod } from '@polder/kube';
import type { ClaimStep } from '../../pods/index.ts';
import type { RevisionStep } from '../../revisions/index.ts';

export type DaemonSetStep = ClaimStep | RevisionStep | DaemonStep;

/** What is done to a daemon. Each knows what the set's status is to say should the server refuse it. */
export type DaemonStep = Doing & { readonly status: DaemonSetStatus };

export type Doing =
  | { readonly do: 'create-pod'; readonly because: string; readonly pod: NewObject<Pod> }
  | { readonly do: 'delete-pod'; readonly because: string; readonly pod: Pod }
  | {
      /** It has ended, and another one is to take its place. */
      readonly do: 'replace-pod';
      readonly because: string;
      readonly pod: Pod;
      readonly node: string;
      /** If it failed: under which the next one that fails on this node has to wait longer. */
      readonly failure?: { readonly key: string; readonly at: number };
    };
