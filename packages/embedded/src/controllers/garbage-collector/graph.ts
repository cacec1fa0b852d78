import type { OwnerReference } from '@polder/kube';
import type { Followed } from '../../apiserver/index.ts';

/** Set on an owner whose deletion waits for those that block it. */
export const FOREGROUND = 'foregroundDeletion';
/** Set on an owner that goes without those that belong to it. */
export const ORPHAN = 'orphan';

/**
 * Who belongs to whom, by uid. Takes every change at a cost that depends on the object's own references and dependents alone,
 * and answers whom the change gives something to do: whoever is named has to be looked at.
 */
export class DependencyGraph {
  readonly #objects = new Map<string, Followed>();
  /** By the uid of the owner, which may be one that nobody has ever seen. */
  readonly #dependents = new Map<string, Set<string>>();
  /** Where owners were that are gone and still named: nobody may serve their kind any more, who could be asked. */
  readonly #gone = new Map<string, string | undefined>();

  get(uid: string): Followed | undefined {
    return this.#objects.get(uid);
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid);
  }

  /** One after the other: an owner of thousands that looks for one that blocks it seldom needs the second. */
  *dependentsOf(uid: string): Generator<Followed> {
    for (const one of this.#dependents.get(uid) ?? []) {
      const dependent = this.#objects.get(one);
      if (dependent !== undefined) yield dependent;
    }
  }

  /** Whether the owner was there once, for an object of this namespace to name. */
  isGone(uid: string, namespace: string | undefined): boolean {
    if (!this.#gone.has(uid)) return false;
    const place = this.#gone.get(uid);
    return place === undefined || place === namespace;
  }

  /** The object came or changed. */
  put(object: Followed): readonly string[] {
    const uid = uidOf(object);
    const before = this.#objects.get(uid);
    this.#objects.set(uid, object);
    const [old, now] = [ownersOf(before), ownersOf(object)];
    for (const owner of now) this.#addDependent(owner.uid, uid);
    const kept = new Set(now.map((owner) => owner.uid));
    for (const owner of old) if (!kept.has(owner.uid)) this.#removeDependent(owner.uid, uid);

    const concerned = new Set<string>();
    if (now.length > 0 && !sameOwners(old, now)) concerned.add(uid);
    // An owner that waits has one less to wait for.
    for (const { uid: owner } of old) if (blocks(before, owner) && !blocks(object, owner)) concerned.add(owner);
    if (startsToWait(before, object, ORPHAN)) concerned.add(uid);
    if (startsToWait(before, object, FOREGROUND)) {
      concerned.add(uid);
      for (const dependent of this.#dependents.get(uid) ?? []) concerned.add(dependent);
    }
    return [...concerned];
  }

  /** The object is gone. */
  remove(object: Followed): readonly string[] {
    const uid = uidOf(object);
    if (!this.#objects.delete(uid)) return [];
    const owners = ownersOf(object).map((owner) => owner.uid);
    for (const owner of owners) this.#removeDependent(owner, uid);
    const dependents = [...(this.#dependents.get(uid) ?? [])];
    if (dependents.length > 0) this.#gone.set(uid, object.metadata.namespace);
    return [...dependents, ...owners.filter((owner) => isWaiting(this.#objects.get(owner), FOREGROUND))];
  }

  #addDependent(owner: string, uid: string): void {
    const dependents = this.#dependents.get(owner);
    if (dependents) dependents.add(uid);
    else this.#dependents.set(owner, new Set([uid]));
  }

  #removeDependent(owner: string, uid: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(uid);
    if (dependents?.size !== 0) return;
    this.#dependents.delete(owner);
    this.#gone.delete(owner);
  }
}

export const uidOf = ({ metadata }: Followed) => metadata.uid ?? '';

export const ownersOf = (object: Followed | undefined) => object?.metadata.ownerReferences ?? [];

export const isBeingDeleted = ({ metadata }: Followed) => metadata.deletionTimestamp !== undefined;

/** Being deleted, and kept by one of the collector's own finalizers. */
export function isWaiting(object: Followed | undefined, finalizer: string): boolean {
  return object !== undefined && isBeingDeleted(object) && object.metadata.finalizers?.includes(finalizer) === true;
}

/** Whether the owner has to wait for the object, if it is deleted in the foreground. */
export function blocks(object: Followed | undefined, owner: string): boolean {
  return ownersOf(object).some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true);
}

function startsToWait(before: Followed | undefined, after: Followed, finalizer: string): boolean {
  return isWaiting(after, finalizer) && !isWaiting(before, finalizer);
}

function sameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  const text = ({ apiVersion, kind, name, uid }: OwnerReference) => `${apiVersion} ${kind} ${name} ${uid}`;
  return a === b || (a.length === b.length && a.every((one, i) => text(one) === text(b[i] ?? one)));
}
