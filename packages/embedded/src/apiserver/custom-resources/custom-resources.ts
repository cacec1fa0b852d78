import type { WireObject } from '../served-kind.ts';
import type { ServedKinds, ServedResource } from '../served-kinds.ts';
import type { Change, ObjectStore } from '../watch/index.ts';
import { type Definition, servedBy } from './definition.ts';

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

/** Keeps what is served in step with the CustomResourceDefinitions in the store, within the same write. */
export class CustomResources {
  readonly #kinds: ServedKinds;
  readonly #served = new Map<string, readonly ServedResource[]>();

  constructor(store: ObjectStore, kinds: ServedKinds) {
    this.#kinds = kinds;
    const definitions = store.cache(DEFINITIONS);
    for (const entry of definitions.entries('')) this.#serve(entry.key, entry.object);
    definitions.listen((change) => this.#follow(change));
  }

  #follow({ key, after }: Change): void {
    for (const served of this.#served.get(key) ?? []) this.#kinds.remove(served);
    this.#served.delete(key);
    if (after !== undefined) this.#serve(key, after.object);
  }

  #serve(key: string, object: WireObject): void {
    if (!isDefinition(object)) return;
    const resources = servedBy(object);
    for (const served of resources) this.#kinds.add(served);
    this.#served.set(key, resources);
  }
}

/** Definitions were validated when they were stored. */
const isDefinition = (object: WireObject): object is Definition => object.kind === 'CustomResourceDefinition';
