import type { Kind, ObjectMeta } from '@polder/kube';
import type { WireMeta, WireObject } from './served-kind.ts';
import type { ServedKinds } from './served-kinds.ts';
import type { ObjectStore } from './watch/index.ts';

/** An object of any kind, as those see it who care for all kinds alike. */
export interface Followed {
  /** In a version by which the object can be reached. */
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
}

export type Follower = (object: Followed, is: 'there' | 'gone') => void;

/**
 * Tells of every object that is there, and then of every change, in order and within the write itself: a follower is never
 * behind the store. It must not write before it returns: watchers would see the second change before the first. Returns how
 * to stop.
 */
export function follow(store: ObjectStore, kinds: ServedKinds, follower: Follower): () => void {
  const tell = (resource: string, object: WireObject, is: 'there' | 'gone') => {
    if (isObjectMeta(object.metadata))
      follower({ kind: kindOf(kinds, resource, object), metadata: object.metadata }, is);
  };
  for (const [resource, cache] of store.caches()) {
    for (const { object } of cache.entries('')) tell(resource, object, 'there');
  }
  return store.listen((resource, { before, after }) => {
    if (after !== undefined) tell(resource, after.object, 'there');
    else if (before !== undefined) tell(resource, before.object, 'gone');
  });
}

/** The version that is stored, if it is served: no other one could need less conversion. */
function kindOf(kinds: ServedKinds, resource: string, { apiVersion, kind, metadata }: WireObject): Kind {
  const versions = kinds.versionsOf(resource);
  const served = versions.find((version) => version.apiVersion === apiVersion) ?? versions[0];
  if (served !== undefined) return served.kind;
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const plural = resource.slice(0, group === '' ? undefined : -group.length - 1);
  return { group, version, kind, plural, namespaced: metadata.namespace !== undefined };
}

/** What was stored is what was validated. */
function isObjectMeta(metadata: WireMeta): metadata is WireMeta & ObjectMeta {
  const { ownerReferences = [] } = metadata;
  return Array.isArray(ownerReferences);
}
