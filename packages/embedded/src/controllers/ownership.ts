/** Which objects belong to a workload, and how they come to it and leave it. */
import {
  type Cached,
  type Cluster,
  isInvalid,
  isNotFound,
  type Kind,
  type KubernetesObject,
  type LabelSelector,
  type ObjectRef,
  type OwnerReference,
  ownerReference,
  type Watch,
  watch,
} from '@polder/kube';
import { structuredLabelSelector } from '../apiserver/selectors/index.ts';

/** A kind of objects that say what belongs to them. */
type Selecting = KubernetesObject & { readonly spec?: { readonly selector?: LabelSelector } };

/** What nobody controls concerns everyone whose selector matches it. */
export function watchUnowned<T extends Selecting>(workloads: Kind<T>, kind: Kind): Watch {
  return watch(kind, (object, cached) => {
    const isOwned = object.metadata.ownerReferences?.some((owner) => owner.controller);
    return isOwned ? [] : selecting(workloads, object, cached);
  });
}

/** The workloads whose selector matches an object. */
export function selecting<T extends Selecting>(
  workloads: Kind<T>,
  { metadata }: KubernetesObject,
  cached: Cached,
): readonly ObjectRef[] {
  return cached
    .list(workloads, metadata.namespace)
    .filter(({ spec }) => structuredLabelSelector(spec?.selector ?? {})(metadata.labels ?? {}))
    .map((workload) => workload.metadata);
}

/** What a workload can lay claim to. */
export interface Claimable<O extends KubernetesObject> {
  /** What it controls. */
  readonly owned: readonly O[];
  /** What nobody in its namespace controls. */
  readonly unowned: readonly O[];
}

export interface Claims<O extends KubernetesObject> {
  /** Its own, which its selector matches. */
  readonly kept: readonly O[];
  /** Nobody's, which its selector matches. */
  readonly adopted: readonly O[];
  /** Its own, which its selector no longer matches. */
  readonly released: readonly O[];
}

/** A workload that is being deleted neither takes in nor lets go. What is being deleted itself stays where it is. */
export function claimsOf<O extends KubernetesObject>(
  owner: KubernetesObject,
  selector: LabelSelector,
  { owned, unowned }: Claimable<O>,
): Claims<O> {
  const matches = structuredLabelSelector(selector);
  const selects = ({ metadata }: O) => matches(metadata.labels ?? {});
  const kept = owned.filter(selects);
  if (isGoing(owner)) return { kept, adopted: [], released: [] };
  return {
    kept,
    adopted: unowned.filter((object) => selects(object) && !isGoing(object)),
    released: owned.filter((object) => !selects(object) && !isGoing(object)),
  };
}

const isGoing = ({ metadata }: KubernetesObject) => metadata.deletionTimestamp !== undefined;

/** Who takes something in. Plain data, for steps. */
export interface Claimant {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly reference: OwnerReference;
  /** Put on what is taken in, by the same write. */
  readonly finalizer?: string;
}

export function claimant<T extends KubernetesObject>(kind: Kind<T>, owner: T): Claimant {
  return { kind, namespace: owner.metadata.namespace, reference: ownerReference(kind, owner) };
}

/**
 * Makes the claimant an object's controller. The server refuses it if somebody else came first, and so does the uid if
 * the object is another one by now.
 */
export async function adopt<O extends KubernetesObject>(
  cluster: Pick<Cluster, 'getLive' | 'patch'>,
  kind: Kind<O>,
  object: O,
  { reference, finalizer, ...claimant }: Claimant,
): Promise<void> {
  // Read from the server: an owner that was deleted with `--cascade=orphan` has just let this object go. Taken in on the
  // word of a cache that is behind, it would be collected together with its owner.
  const owner = await cluster.getLive(claimant.kind, { namespace: claimant.namespace, name: reference.name });
  if (owner.metadata.uid !== reference.uid || isGoing(owner)) {
    throw new Error(`${reference.kind} ${reference.name} is being deleted and takes nothing in`);
  }
  const more = finalizer === undefined ? {} : { finalizers: [finalizer] };
  await patchOwners(cluster, kind, object, reference, more).catch(unless(isNotFound));
}

/** Ends an owner's control over an object; other owners stay. */
export async function release<O extends KubernetesObject>(
  cluster: Pick<Cluster, 'patch'>,
  kind: Kind<O>,
  object: O,
  ownerUid: string,
): Promise<void> {
  // Invalid: it is another object of the same name by now. In both cases there is nothing left to release.
  const isReleased = (error: unknown) => isNotFound(error) || isInvalid(error);
  await patchOwners(cluster, kind, object, { $patch: 'delete', uid: ownerUid }).catch(unless(isReleased));
}

/** Merged by the server, which knows the references of this moment; a list of ours would undo what others did to it. */
function patchOwners<O extends KubernetesObject>(
  cluster: Pick<Cluster, 'patch'>,
  kind: Kind<O>,
  { metadata }: O,
  reference: object,
  more: object = {},
) {
  const body = { metadata: { uid: metadata.uid, ownerReferences: [reference], ...more } };
  return cluster.patch(kind, metadata, { type: 'strategic', body });
}

const unless = (isHarmless: (error: unknown) => boolean) => (error: unknown) => {
  if (!isHarmless(error)) throw error;
};
