import { Bell, resourceNameOf } from '@polder/kube';
import type { ApiServer, Followed } from '../../apiserver/index.ts';

/** The objects of one resource in one namespace. */
export interface Content {
  /** `deployments.apps`. */
  readonly resource: string;
  readonly objects: readonly Followed[];
}

/** What is in each namespace, of every kind; each change costs the same, however much there is. */
export class NamespaceContents {
  readonly #contents = new Map<string, Map<string, Map<string, Followed>>>();
  readonly #terminating = new Set<string>();
  #isKnown = false;
  /** Rung when something happens in a namespace that is being deleted. */
  readonly bell = new Bell();

  /** Begins with what is there. Returns how to stop. */
  follow(server: Pick<ApiServer, 'follow'>): () => void {
    this.#isKnown = true;
    return server.follow((object, is) => {
      const { name, namespace } = object.metadata;
      if (namespace !== undefined) this.#note(namespace, object, is);
      else if (object.kind.plural === 'namespaces' && object.kind.group === '') {
        const isTerminating = is === 'there' && object.metadata.deletionTimestamp !== undefined;
        if (isTerminating) this.#terminating.add(name);
        else this.#terminating.delete(name);
      }
    });
  }

  /** In the order of their names. */
  of(namespace: string): readonly Content[] {
    // What nobody has looked at is not empty: a namespace would go, and leave everything in it behind.
    if (!this.#isKnown) throw new Error('what is in the namespaces is not known: follow the API server first');
    const byResource = [...(this.#contents.get(namespace) ?? [])];
    return byResource
      .map(([resource, objects]) => ({ resource, objects: [...objects.values()] }))
      .toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  #note(namespace: string, object: Followed, is: 'there' | 'gone'): void {
    const { uid = '' } = object.metadata;
    const resource = resourceNameOf(object.kind);
    const resources = this.#contents.get(namespace) ?? new Map<string, Map<string, Followed>>();
    const objects = resources.get(resource) ?? new Map<string, Followed>();
    if (is === 'there') objects.set(uid, object);
    else objects.delete(uid);
    if (objects.size > 0) resources.set(resource, objects);
    else resources.delete(resource);
    if (resources.size > 0) this.#contents.set(namespace, resources);
    else this.#contents.delete(namespace);
    if (this.#terminating.has(namespace)) this.bell.ring({ name: namespace });
  }
}
