import type { DeleteOptions, OwnerReference } from '@polder/kube';
import type { Followed } from '../../apiserver/index.ts';
import type { FindKind } from '../kind-finder.ts';
import {
  blocks,
  type DependencyGraph,
  FOREGROUND,
  isBeingDeleted,
  isWaiting,
  ORPHAN,
  ownersOf,
  uidOf,
} from './graph.ts';

type Propagation = NonNullable<DeleteOptions['propagationPolicy']>;

/** What is to be done with an object now. */
export type Decision =
  | { readonly do: 'nothing' }
  /** An owner is of a kind that nobody serves, maybe not yet: nobody knows whether it is there. */
  | { readonly do: 'ask-later'; readonly because: string }
  | { readonly do: 'delete'; readonly because: string; readonly propagation: Propagation; readonly unblocks: boolean }
  | { readonly do: 'drop-owners'; readonly because: string; readonly owners: readonly string[] }
  | { readonly do: 'orphan'; readonly because: string; readonly dependents: readonly Followed[] }
  | { readonly do: 'remove-finalizer'; readonly because: string; readonly finalizer: string };

const NOTHING: Decision = { do: 'nothing' };

/**
 * The rules of the collector, from the object's point of view:
 * - what has an owner that is there stays, and forgets those that are not, or that wait for it to go;
 * - what has only owners that are not there goes, and so does what the last of its owners waits for;
 * - an owner deleted in the foreground goes when nobody blocks it any more;
 * - an owner deleted without those that belong to it goes when none of them names it any more.
 */
export function decide(graph: DependencyGraph, find: FindKind, uid: string): Decision {
  const object = graph.get(uid);
  if (object === undefined) return NOTHING;
  if (isBeingDeleted(object)) return decideOwner(graph, object);
  const owners = ownersOf(object).map((reference) => ({ reference, is: stateOf(reference, object, graph, find) }));
  if (owners.length === 0) return NOTHING;
  // No owner in a namespace can be looked for from outside of all of them: the reference is wrong, and nobody is harmed.
  if (owners.some(({ is }) => is === 'nonsense')) return NOTHING;
  const unknown = owners.find(({ is }) => is === 'unknown')?.reference;
  if (unknown) return { do: 'ask-later', because: `nobody serves ${unknown.apiVersion} ${unknown.kind}` };

  const uids = (...states: readonly OwnerState[]) =>
    owners.filter(({ is }) => states.includes(is)).map(({ reference }) => reference.uid);
  if (uids('there').length > 0) {
    const lost = uids('absent', 'waiting');
    if (lost.length === 0) return NOTHING;
    return { do: 'drop-owners', because: 'another owner keeps the object', owners: lost };
  }
  if (uids('waiting').length > 0 && graph.hasDependents(uid)) {
    // Everyone in a circle would wait for the next one for ever.
    const unblocks = graph.dependentsOf(uid).some((dependent) => isWaiting(dependent, FOREGROUND));
    return { do: 'delete', because: 'its owner waits for it to go', propagation: 'Foreground', unblocks };
  }
  const because = uids('waiting').length > 0 ? 'its owner waits for it to go' : 'its owner is gone';
  return { do: 'delete', because, propagation: propagationOf(object), unblocks: false };
}

/** Being deleted is a way without return: all that is left to do is for those that belong to the object. */
function decideOwner(graph: DependencyGraph, object: Followed): Decision {
  const uid = uidOf(object);
  if (isWaiting(object, ORPHAN)) {
    const dependents = [...graph.dependentsOf(uid)];
    if (dependents.length > 0) return { do: 'orphan', because: 'it goes without those that belong to it', dependents };
    return { do: 'remove-finalizer', because: 'nobody names the object as its owner', finalizer: ORPHAN };
  }
  if (!isWaiting(object, FOREGROUND)) return NOTHING;
  const isBlocked = graph.dependentsOf(uid).some((dependent) => blocks(dependent, uid));
  if (isBlocked) return NOTHING;
  return { do: 'remove-finalizer', because: 'nobody blocks the deletion any more', finalizer: FOREGROUND };
}

type OwnerState = 'there' | 'waiting' | 'absent' | 'unknown' | 'nonsense';

/**
 * An owner is there if an object of the kind and name that the reference says, in the namespace of the dependent or in none,
 * has its uid. Another one of the same name is somebody else; so is one of the same uid that is elsewhere.
 */
function stateOf(reference: OwnerReference, object: Followed, graph: DependencyGraph, find: FindKind): OwnerState {
  const { namespace } = object.metadata;
  const kind = find(reference.apiVersion, reference.kind);
  if (kind === undefined) return graph.isGone(reference.uid, namespace) ? 'absent' : 'unknown';
  if (kind.namespaced && namespace === undefined) return 'nonsense';
  const owner = graph.get(reference.uid);
  const isThere =
    owner !== undefined &&
    owner.kind.plural === kind.plural &&
    owner.kind.group === kind.group &&
    owner.metadata.name === reference.name &&
    (!kind.namespaced || owner.metadata.namespace === namespace);
  if (!isThere) return 'absent';
  return isWaiting(owner, FOREGROUND) ? 'waiting' : 'there';
}

/** A wish that the object itself carries is honoured. */
function propagationOf({ metadata: { finalizers = [] } }: Followed): Propagation {
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}
