import { type Clock, timestamp } from '@polder/kube';
import { type Crd, crdFrom } from '../schema/index.ts';
import type { WireObject } from '../served-kind.ts';
import type { ServedKinds, ServedResource } from '../served-kinds.ts';
import { markedForDeletion } from '../verbs/delete.ts';
import type { Change, Entry, ObjectStore } from '../watch/index.ts';
import type { WebhookCaller } from '../webhooks/index.ts';
import { type NameConflict, nameConflict, withConditions } from './conditions.ts';
import { servedBy } from './definition.ts';

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/**
 * Keeps what is served in step with the definitions in the store: within the same write a definition is served or gone.
 * Its own writes (conditions, the clean-up of instances) come right after, as those of a controller would.
 */
export class CustomResources {
  readonly #store: ObjectStore;
  readonly #kinds: ServedKinds;
  readonly #clock: Clock;
  readonly #webhooks: WebhookCaller;
  readonly #served = new Map<string, readonly ServedResource[]>();
  readonly #stopWatching = new Map<string, () => void>();

  constructor(store: ObjectStore, kinds: ServedKinds, clock: Clock, webhooks: WebhookCaller) {
    this.#store = store;
    this.#kinds = kinds;
    this.#clock = clock;
    this.#webhooks = webhooks;
  }

  /** Serves what is there, and from now on what comes. */
  follow(): void {
    const definitions = this.#store.cache(DEFINITIONS);
    for (const entry of definitions.entries('')) {
      this.#serve(entry);
      queueMicrotask(() => this.#settle(entry.key));
    }
    definitions.listen((change) => this.#followChange(change));
  }

  #followChange({ key, after }: Change): void {
    for (const served of this.#served.get(key) ?? []) this.#kinds.remove(served);
    this.#served.delete(key);
    if (after !== undefined) this.#serve(after);
    // Writing inside of a notification would show watchers the second change before the first.
    queueMicrotask(() => this.#settle(key));
  }

  #serve({ key, object }: Entry): void {
    const crd = crdFrom(object);
    if (this.#conflict(key, crd) !== undefined) return;
    const resources = servedBy(crd, this.#webhooks);
    for (const served of resources) this.#kinds.add(served);
    this.#served.set(key, resources);
  }

  /** Brings one definition a step further: accepted, or cleaned up and gone. */
  #settle(key: string): void {
    const entry = this.#store.cache(DEFINITIONS).get(key);
    if (entry === undefined) {
      this.#stopWatching.get(key)?.();
      this.#stopWatching.delete(key);
    } else if (entry.object.metadata.deletionTimestamp !== undefined) {
      this.#cleanUp(entry);
    } else {
      this.#judge(entry);
    }
  }

  /** A definition keeps its names until it goes; others with the same ones are not served. */
  #conflict(key: string, crd: Crd): NameConflict | undefined {
    const others = [...this.#store.cache(DEFINITIONS).entries('')].filter(
      (other) => this.#served.has(other.key) && other.key !== key,
    );
    return nameConflict(
      crd,
      others.map(({ object }) => crdFrom(object)),
    );
  }

  /** Writes down whether the definition is served, and makes sure that it cannot go before its instances. */
  #judge(entry: Entry): void {
    const crd = crdFrom(entry.object);
    const now = timestamp(this.#clock.now());
    const judged = withConditions(entry.object, crd.spec.names ?? {}, this.#conflict(entry.key, crd), now);
    const { metadata } = judged;
    if (judged === entry.object && metadata.finalizers?.includes(CLEANUP)) return;
    const finalizers = [...(metadata.finalizers ?? []).filter((name) => name !== CLEANUP), CLEANUP];
    this.#store.put(DEFINITIONS, entry.key, entry, { ...judged, metadata: { ...metadata, finalizers } });
  }

  /** Deletes all instances; when the last one is gone, so is the definition's finalizer. */
  #cleanUp(entry: Entry): void {
    const resource = resourceIn(crdFrom(entry.object));
    const instances = this.#store.cache(resource);
    if (!this.#stopWatching.has(entry.key)) {
      this.#stopWatching.set(
        entry.key,
        instances.listen(() => queueMicrotask(() => this.#settle(entry.key))),
      );
    }
    for (const instance of Array.from(instances.entries(''))) this.#remove(resource, instance);
    if (instances.size > 0) return;
    const { metadata } = entry.object;
    const finalizers = (metadata.finalizers ?? []).filter((name) => name !== CLEANUP);
    if (finalizers.length === 0) this.#store.remove(DEFINITIONS, entry);
    else if (finalizers.length !== metadata.finalizers?.length) {
      this.#store.put(DEFINITIONS, entry.key, entry, { ...entry.object, metadata: { ...metadata, finalizers } });
    }
  }

  #remove(resource: string, instance: Entry): void {
    const options = { gracePeriodSeconds: undefined, propagation: undefined };
    const marked: WireObject | undefined = markedForDeletion(instance.object, resource, options, this.#clock.now());
    if (marked === undefined) this.#store.remove(resource, instance);
    else if (marked !== instance.object) this.#store.put(resource, instance.key, instance, marked);
  }
}

const resourceIn = ({ spec }: Crd) => `${spec.names?.plural}.${spec.group}`;
