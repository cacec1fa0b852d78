import { parseStored, textOf } from '../object-text.ts';
import type { WireMeta, WireObject } from '../served-kind.ts';
import type { Storage } from '../storage/index.ts';
import type { Change, Entry } from './entry.ts';
import { WatchCache } from './watch-cache.ts';

/**
 * The one place that writes. Every write takes the next revision of the whole store, goes to storage, and only then
 * becomes visible to reads and watches: nobody ever sees what could still be lost.
 */
export class ObjectStore {
  readonly #storage: Storage;
  readonly #caches = new Map<string, WatchCache>();
  readonly #historyLimit: number;
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>();
  readonly #listeners = new Set<(resource: string, change: Change) => void>();
  #revision: number;

  constructor(storage: Storage, historyLimit: number) {
    this.#storage = storage;
    this.#historyLimit = historyLimit;
    const { revision, objects } = storage.load();
    // Revision 0 means "any" on the wire, so an empty store starts at 1.
    this.#revision = Math.max(1, revision);
    for (const { resource, key, text } of objects) {
      const object = parseStored(text);
      this.cache(resource).restore({ key, revision: Number(object.metadata.resourceVersion), object, text });
    }
  }

  get revision(): number {
    return this.#revision;
  }

  cache(resource: string): WatchCache {
    let cache = this.#caches.get(resource);
    if (cache === undefined) {
      cache = new WatchCache(this.#revision, this.#historyLimit);
      this.#caches.set(resource, cache);
    }
    return cache;
  }

  /**
   * Creates (`before` undefined) or replaces. Undefined when the object is no longer what the caller read, which only
   * happens if the caller waited for something in between.
   */
  put(resource: string, key: string, before: Entry | undefined, object: WireObject): Entry | undefined {
    const cache = this.cache(resource);
    if (cache.get(key) !== before) return undefined;
    const revision = this.#revision + 1;
    const after = entryAt(key, revision, object);
    this.#commit(resource, cache, { revision, key, before, after, last: undefined }, after.text);
    return after;
  }

  /** Returns the last state under the revision of the deletion; undefined as for `put`. */
  remove(resource: string, before: Entry, lastState: WireObject = before.object): Entry | undefined {
    const cache = this.cache(resource);
    if (cache.get(before.key) !== before) return undefined;
    const revision = this.#revision + 1;
    const last = entryAt(before.key, revision, lastState);
    this.#commit(resource, cache, { revision, key: before.key, before, after: undefined, last }, undefined);
    return last;
  }

  #commit(resource: string, cache: WatchCache, change: Change, text: string | undefined): void {
    this.#storage.write({ resource, key: change.key, revision: change.revision, text });
    this.#revision = change.revision;
    cache.apply(change);
    for (const listener of this.#listeners) listener(resource, change);
    for (const waiting of this.#waiting) {
      if (waiting.revision > this.#revision) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** The caches of all resources of which something was read or written. */
  caches(): Iterable<readonly [resource: string, cache: WatchCache]> {
    return this.#caches;
  }

  /** Calls back with every change of every resource from now on; returns how to stop. */
  listen(listener: (resource: string, change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls back when a revision has been reached; returns how to stop waiting. */
  whenReached(revision: number, resolve: () => void): () => void {
    if (revision <= this.#revision) {
      resolve();
      return () => {};
    }
    const waiting = { revision, resolve };
    this.#waiting.add(waiting);
    return () => this.#waiting.delete(waiting);
  }

  /** Forgets all history: watches and pages from before now are `Expired`. */
  compact(): void {
    for (const cache of this.#caches.values()) cache.compact(this.#revision);
  }

  close(): void {
    this.#storage.close();
  }
}

function entryAt(key: string, revision: number, object: WireObject): Entry {
  const metadata: WireMeta = { ...object.metadata, resourceVersion: String(revision) };
  const stamped: WireObject = { ...object, metadata };
  return { key, revision, object: stamped, text: textOf(stamped) };
}
