import { type Kind, type KubernetesObject, keyOf, type ObjectRef, resourceNameOf } from '../kinds/object.ts';
import type { Store } from './store.ts';

/**
 * Remembers what this program wrote, so that it never decides on a state older than its own last write.
 *
 * - **Why?** The cache lags behind the server, by milliseconds on a good day and by seconds on a bad one. A controller that
 *   creates, deletes or counts on what it reads would do so twice.
 * - **How?** A write's answer carries the version it made. Until the store of that kind has seen this version (or, for a
 *   deletion, until that very object is gone), the key is *stale*, and reads of it wait.
 * - **What if the event never comes?** Then the watch is broken, and its reflector resumes it; readers wait with the
 *   deadline of their reconcile and fail loudly, rather than act on old news.
 * - **After a restart?** Nothing is remembered and nothing needs to be: the first list is newer than all earlier writes.
 */
export class OwnWrites {
  readonly #pending = new Map<string, Map<string, Write>>();

  /** How many writes are remembered. */
  get size(): number {
    return this.#pending.values().reduce((size, writes) => size + writes.size, 0);
  }

  /** The server answered a write with this object. */
  wrote(kind: Kind, object: KubernetesObject): void {
    const { resourceVersion: version } = object.metadata;
    if (version !== undefined) this.#of(kind).set(keyOf(object.metadata), { ref: object.metadata, version });
  }

  /** The server answered a delete: this object is gone at once. */
  deleted(kind: Kind, ref: ObjectRef, uid: string): void {
    this.#of(kind).set(keyOf(ref), { ref, uid });
  }

  /** Whether a write to this object (or to any of the kind) is not in the store yet. */
  isStale<T extends KubernetesObject>(kind: Kind<T>, store: Store<T>, ref?: ObjectRef): boolean {
    this.forgetSeen(kind, store);
    const pending = this.#pending.get(resourceNameOf(kind));
    if (!pending) return false;
    return ref ? pending.has(keyOf(ref)) : pending.size > 0;
  }

  /** Forgets the writes that are in the store. Whoever writes without ever reading has to call it. */
  forgetSeen<T extends KubernetesObject>(kind: Kind<T>, store: Store<T>): void {
    const pending = this.#pending.get(resourceNameOf(kind));
    for (const [key, write] of pending ?? []) if (isVisible(write, store)) pending?.delete(key);
  }

  #of(kind: Kind): Map<string, Write> {
    const name = resourceNameOf(kind);
    const pending = this.#pending.get(name) ?? new Map<string, Write>();
    this.#pending.set(name, pending);
    return pending;
  }
}

type Write = { readonly ref: ObjectRef } & ({ readonly version: string } | { readonly uid: string });

function isVisible<T extends KubernetesObject>(write: Write, store: Store<T>): boolean {
  if ('version' in write) return store.hasSeen(write.version, write.ref.namespace);
  return store.get(write.ref)?.metadata.uid !== write.uid;
}
