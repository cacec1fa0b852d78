import type { NewObject, OwnerReference, PersistentVolumeClaim, Pod, StatefulSetStatus } from '@polder/kube';
import type { ClaimStep } from '../../pods/index.ts';
import type { RevisionStep } from '../../revisions/index.ts';

export type StatefulSetStep = ClaimStep | RevisionStep | MemberStep;

/** What is done to a member. Each knows what the set's status is to say should the server refuse it. */
export type MemberStep = Doing & { readonly set: string; readonly status: StatefulSetStatus };

export type Doing =
  | {
      readonly do: 'create-pod';
      readonly because: string;
      readonly name: string;
      readonly pod: NewObject<Pod>;
      readonly claims: Claims;
    }
  | { readonly do: 'create-claims'; readonly because: string; readonly name: string; readonly claims: Claims }
  | {
      readonly do: 'own-claim';
      readonly because: string;
      readonly claim: PersistentVolumeClaim;
      readonly owners: readonly OwnerReference[];
    }
  | { readonly do: 'update-pod'; readonly because: string; readonly pod: Pod; readonly patch: object }
  | { readonly do: 'delete-pod'; readonly because: string; readonly pod: Pod };

/** What keeps a pod from its claims: some are to be created, and others have to be gone first. */
export interface Claims {
  readonly missing: readonly NewObject<PersistentVolumeClaim>[];
  readonly leaving: readonly string[];
}
