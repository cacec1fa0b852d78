import { type Client, isConflict, isInvalid, isNotFound, type JsonPatchOperation } from '../client/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';

/**
 * Finalizers keep a deleted object in the API until the controller has cleaned up what the garbage collector can't reach:
 * things outside of the cluster, or in other namespaces.
 *
 * # Flow
 *
 * 1. An object is seen that is not being deleted: `addFinalizer`. Only when it says `present` may anything be made outside.
 * 2. An object is seen that is being deleted and has the finalizer: clean up, then `removeFinalizer`. With the last
 *    finalizer the server removes the object.
 * 3. An object is seen that is being deleted without the finalizer: it is none of our business any more.
 *
 * # Guarantees
 *
 * - What is made outside is cleaned up, whenever the program or the server dies: the finalizer is stored before the first
 *   thing is made and goes after the last one is gone.
 * - Nobody else's finalizer is ever added back, removed or reordered. Each patch tests, on the server, that the object is the
 *   very one that was read (UID) and that the list is as it was read; if not, nothing is written and the answer is
 *   `look-again`.
 *
 * # Assumptions
 *
 * - `name` is this controller's alone, and qualified: `dataflow.io/consumer-group`.
 * - The object comes from the cache, so it may be old. That costs an attempt, never a wrong write.
 * - Cleaning up can be repeated, and does nothing if nothing was ever made: step 1 may have been the last before a crash.
 *
 * # Caveats
 *
 * - While no controller runs, such objects can't go, nor can their namespaces. Use owner references wherever they reach.
 * - Whoever may update the object may remove the finalizer by hand; then nothing is cleaned up.
 */
export type FinalizerOutcome<T> =
  /** The finalizer is there; `object` is as the server has it. */
  | { readonly is: 'present'; readonly object: T }
  /** The finalizer is not there; `object` is what remains, undefined if we know of nothing. */
  | { readonly is: 'absent'; readonly object: T | undefined }
  /** The object has changed since it was read, or goes away: decide again on a newer one. */
  | { readonly is: 'look-again' };

const LOOK_AGAIN = { is: 'look-again' } as const;

/** Whoever can patch: a client, or a cluster that remembers what was written. */
type Patcher = Pick<Client, 'patch'>;

export function hasFinalizer(object: KubernetesObject, name: string): boolean {
  return object.metadata.finalizers?.includes(name) ?? false;
}

export async function addFinalizer<T extends KubernetesObject>(
  client: Patcher,
  kind: Kind<T>,
  object: T,
  name: string,
  signal?: AbortSignal,
): Promise<FinalizerOutcome<T>> {
  if (hasFinalizer(object, name)) return { is: 'present', object };
  // The server refuses new finalizers on what is being deleted.
  if (object.metadata.deletionTimestamp !== undefined) return { is: 'absent', object };
  const { finalizers = [] } = object.metadata;
  const list = '/metadata/finalizers';
  const operations: JsonPatchOperation[] =
    finalizers.length === 0
      ? // A list that is not there passes for null, and can't be appended to.
        [
          { op: 'test', path: list, value: null },
          { op: 'add', path: list, value: [name] },
        ]
      : [
          { op: 'test', path: list, value: finalizers },
          { op: 'add', path: `${list}/-`, value: name },
        ];
  const patched = await patch(client, kind, object, operations, signal);
  return patched.is === 'patched' ? { is: 'present', object: patched.object } : LOOK_AGAIN;
}

export async function removeFinalizer<T extends KubernetesObject>(
  client: Patcher,
  kind: Kind<T>,
  object: T,
  name: string,
  signal?: AbortSignal,
): Promise<FinalizerOutcome<T>> {
  const at = object.metadata.finalizers?.indexOf(name) ?? -1;
  if (at < 0) return { is: 'absent', object };
  const path = `/metadata/finalizers/${at}`;
  const operations: JsonPatchOperation[] = [
    { op: 'test', path, value: name },
    { op: 'remove', path },
  ];
  const patched = await patch(client, kind, object, operations, signal);
  if (patched.is === 'gone') return { is: 'absent', object: undefined };
  return patched.is === 'patched' ? { is: 'absent', object: patched.object } : LOOK_AGAIN;
}

type Patched<T> = { readonly is: 'patched'; readonly object: T } | { readonly is: 'gone' } | typeof LOOK_AGAIN;

async function patch<T extends KubernetesObject>(
  client: Patcher,
  kind: Kind<T>,
  object: T,
  operations: readonly JsonPatchOperation[],
  signal: AbortSignal | undefined,
): Promise<Patched<T>> {
  // An object of the same name may have come after the one that was read.
  const isSame: JsonPatchOperation = { op: 'test', path: '/metadata/uid', value: object.metadata.uid };
  try {
    const guarded = { type: 'json', operations: [isSame, ...operations] } as const;
    return { is: 'patched', object: await client.patch(kind, object.metadata, guarded, { signal }) };
  } catch (error) {
    if (isNotFound(error)) return { is: 'gone' };
    // A failed test is 422, as is a finalizer added while a deletion began; a write in between is 409.
    if (isConflict(error) || isInvalid(error)) return LOOK_AGAIN;
    throw error;
  }
}
