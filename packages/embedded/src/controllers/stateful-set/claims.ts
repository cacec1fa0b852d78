/** The claims of a set's members: one for each claim template, kept when the pod goes, unless the set says otherwise. */
import {
  apiVersionOf,
  type Kind,
  type KubernetesObject,
  type NewObject,
  type OwnerReference,
  ownerReference,
  type PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '@polder/kube';
import { wantedOf } from './wanted.ts';

export function claimName(set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

export function newClaim(
  set: StatefulSet,
  template: PersistentVolumeClaim,
  ordinal: number,
): NewObject<PersistentVolumeClaim> {
  const { namespace = '' } = set.metadata;
  const { name: _, labels, ...metadata } = template.metadata;
  return {
    metadata: {
      ...metadata,
      namespace,
      name: claimName(set, template, ordinal),
      labels: { ...labels, ...set.spec?.selector.matchLabels },
      // Written with the claim, so that there is no moment in which the set could go without it.
      ...(wantedOf(set).retention.deleteWithSet && { ownerReferences: [ownerReference(StatefulSet, set)] }),
    },
    ...(template.spec && { spec: template.spec }),
  };
}

/** A pod that has this name, or had it, or will have it. */
export type Member = Pick<Pod, 'metadata'>;

/** The claim still belongs to an earlier pod of the name, and goes with it: a new pod would lose it while it runs. */
export function isLeftOver(claim: PersistentVolumeClaim, set: StatefulSet, member: Member): boolean {
  return wantedOf(set).retention.deleteWithMember && hasPredecessor(claim, Pod, member);
}

/**
 * The owner references that a claim should have, by which garbage collection deletes it in time; undefined if they are as they
 * should be, or if somebody else's are there: then it is not ours to delete.
 */
export function ownersOf(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  member: Member,
  isCondemned: boolean,
): readonly OwnerReference[] | undefined {
  const refs = claim.metadata.ownerReferences ?? [];
  if (hasPredecessor(claim, StatefulSet, set) || hasPredecessor(claim, Pod, member)) return undefined;
  const { deleteWithSet, deleteWithMember } = wantedOf(set).retention;
  const others = refs.filter((ref) => !names(ref, StatefulSet, set) && !names(ref, Pod, member));
  const isOurs = others.length < refs.length;
  if ((deleteWithSet || deleteWithMember) && others.some((ref) => ref.controller)) return isOurs ? others : undefined;
  const owners = [
    ...(deleteWithMember && isCondemned ? [ownerReference(Pod, { ...POD, ...member })] : []),
    ...(deleteWithSet && !(deleteWithMember && isCondemned) ? [ownerReference(StatefulSet, set)] : []),
  ];
  const ours = refs.filter((ref) => !others.includes(ref));
  const isSame =
    ours.length === owners.length && ours.every((ref, at) => ref.controller && ref.uid === owners[at]?.uid);
  return isSame ? undefined : [...others, ...owners];
}

const POD = { apiVersion: 'v1', kind: 'Pod' } as const;

/** A reference by name to one that is gone: its successor has another uid. */
function hasPredecessor(claim: PersistentVolumeClaim, kind: Kind, owner: Pick<KubernetesObject, 'metadata'>): boolean {
  const ref = claim.metadata.ownerReferences?.find((one) => names(one, kind, owner));
  return ref !== undefined && ref.uid !== owner.metadata.uid;
}

function names(ref: OwnerReference, kind: Kind, { metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return ref.kind === kind.kind && ref.apiVersion === apiVersionOf(kind) && ref.name === metadata.name;
}
