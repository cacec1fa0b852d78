import { isAtLeast } from '../client/index.ts';
import { deepFreeze } from '../freeze.ts';
import { type Kind, type KubernetesObject, keyOf, type ObjectRef } from '../kinds/object.ts';
import { type Logger, messageOf } from '../log.ts';
import type { ChangeEvent, ReflectorSink } from '../reflector/index.ts';
import { IndexMap } from './index-map.ts';
import { shared } from './sharing.ts';

export type StoreEvent<T> =
  /** `isInitial`: it was in the first whole picture, or there before the handler was. */
  | { readonly type: 'added'; readonly object: T; readonly isInitial: boolean }
  | { readonly type: 'modified'; readonly object: T; readonly old: T }
  /** `isLastState` is false when the deletion itself was missed: then `object` is what we last knew of it. */
  | { readonly type: 'deleted'; readonly object: T; readonly isLastState: boolean };

export type Handler<T> = (event: StoreEvent<T>) => void;

/** Names of indexes, and what an object is found under in each. */
export type Indexes<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** What objects of a kind can be found by. It is kept from the moment on that somebody first asks by it. */
export interface Index<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  /** Its own among those of the kind. */
  readonly name: string;
  readonly valuesOf: (object: T) => readonly string[];
}

export interface StoreOptions<T> {
  readonly log: Logger;
  readonly indexes?: Indexes<T> | undefined;
  /** One partition for each; all namespaces together without it. */
  readonly namespaces?: readonly string[] | undefined;
  /** Freeze what comes in, so that a test fails where code changes a shared object. Costs too much for production. */
  readonly freeze?: boolean | undefined;
}

/**
 * The objects of one kind as the server last told them. What it hands out is shared by all readers and never changed: a
 * newer state is a new object. A partition (all namespaces, or one of several) is kept by one reflector.
 */
export class Store<T extends KubernetesObject> {
  readonly #log: Logger;
  readonly #freeze: boolean;
  readonly #partitions: ReadonlyMap<string, Partition<T>>;
  readonly #indexes: Map<string, IndexMap<T>>;
  readonly #handlers = new Set<Handler<T>>();
  readonly #waiters = new Set<() => void>();

  constructor({ log, indexes = {}, namespaces = [ALL], freeze = false }: StoreOptions<T>) {
    this.#log = log;
    this.#freeze = freeze;
    const all: Indexes<T> = { ...indexes, [NAMESPACE]: ({ metadata }) => [metadata.namespace ?? ''] };
    this.#indexes = new Map(Object.entries(all).map(([name, valuesOf]) => [name, new IndexMap(valuesOf)]));
    this.#partitions = new Map(namespaces.map((namespace) => [namespace, new Partition<T>()]));
  }

  get(ref: ObjectRef): T | undefined {
    return this.#partitionOf(ref.namespace)?.objects.get(keyOf(ref));
  }

  /** All objects, or those of a namespace. */
  list(namespace?: string): T[] {
    if (namespace !== undefined) return this.by(NAMESPACE, namespace);
    return [...this.#partitions.values()].flatMap((partition) => [...partition.objects.values()]);
  }

  /** The objects that an index has under a value. */
  by(index: string, value: string): T[] {
    const found: T[] = [];
    for (const key of this.#index(index).keys(value)) {
      for (const partition of this.#partitions.values()) {
        const object = partition.objects.get(key);
        if (object) found.push(object);
      }
    }
    return found;
  }

  /** The same for an index that need not have been named before. */
  find({ name, valuesOf }: Omit<Index<T>, 'kind'>, value: string): T[] {
    if (!this.#indexes.has(name)) {
      const index = new IndexMap(valuesOf);
      for (const object of this.list()) index.update(keyOf(object.metadata), undefined, object);
      this.#indexes.set(name, index);
    }
    return this.by(name, value);
  }

  get size(): number {
    let size = 0;
    for (const partition of this.#partitions.values()) size += partition.objects.size;
    return size;
  }

  /** Every partition has had its first whole picture. */
  get isSynced(): boolean {
    return [...this.#partitions.values()].every((partition) => partition.version !== undefined);
  }

  /** Whether everything up to this version can be read here. A namespace that is not watched has nothing to wait for. */
  hasSeen(version: string, namespace: string | undefined): boolean {
    const partition = this.#partitionOf(namespace);
    return !partition || (partition.version !== undefined && isAtLeast(partition.version, version));
  }

  /** Resolves once `condition` holds; looks again whenever something new was learned. */
  until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#waiters.delete(look);
        reject(signal?.reason);
      };
      const look = () => {
        if (!condition()) return;
        this.#waiters.delete(look);
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiters.add(look);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** The handler is told of everything present, then of every change. Handlers must not wait and should not throw. */
  subscribe(handler: Handler<T>): { readonly unsubscribe: () => void } {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#tell(handler, { type: 'added', object, isInitial: true });
    return { unsubscribe: () => this.#handlers.delete(handler) };
  }

  /** Where the reflector of a partition puts what it learns. */
  sink(namespace: string = ALL): ReflectorSink<T> {
    const partition = this.#partitions.get(namespace);
    if (!partition) throw new Error(`the store keeps no partition ${namespace}`);
    return {
      begin: () => partition.begin(),
      seed: (objects) => this.#seed(partition, objects),
      complete: (version) => this.#complete(partition, version),
      change: (events) => this.#change(partition, events),
      progress: (version) => this.#advance(partition, version),
    };
  }

  #seed(partition: Partition<T>, objects: readonly T[]): void {
    for (const object of objects) {
      const key = keyOf(object.metadata);
      const known = partition.objects.get(key);
      // The same version is the same object: keeping the one we have keeps a relist from doubling our memory.
      const isKnown = known?.metadata.resourceVersion === object.metadata.resourceVersion;
      partition.next.set(
        key,
        known && isKnown ? known : this.#taken(partition, object, known ?? partition.siblingOf(object)),
      );
    }
  }

  #complete(partition: Partition<T>, version: string): void {
    const old = partition.objects;
    const isInitial = partition.version === undefined;
    partition.objects = partition.next;
    partition.begin();
    partition.version = version;
    // The whole picture is in place before anyone is told, so that a handler that looks around sees one moment.
    const events: StoreEvent<T>[] = [];
    for (const [key, object] of partition.objects) {
      const known = old.get(key);
      if (known === object) continue;
      this.#reindex(key, known, object);
      events.push(known ? { type: 'modified', object, old: known } : { type: 'added', object, isInitial });
    }
    for (const [key, object] of old) {
      if (partition.objects.has(key)) continue;
      this.#reindex(key, object, undefined);
      events.push({ type: 'deleted', object, isLastState: false });
    }
    this.#publish(events);
  }

  #change(partition: Partition<T>, changes: readonly ChangeEvent<T>[]): void {
    const events: StoreEvent<T>[] = [];
    for (const { type, object } of changes) {
      const key = keyOf(object.metadata);
      const old = partition.objects.get(key);
      if (type === 'DELETED') {
        partition.objects.delete(key);
        if (old) events.push({ type: 'deleted', object: this.#taken(partition, object, old), isLastState: true });
        this.#reindex(key, old, undefined);
      } else if (old?.metadata.resourceVersion !== object.metadata.resourceVersion) {
        const taken = this.#taken(partition, object, old);
        partition.objects.set(key, taken);
        this.#reindex(key, old, taken);
        events.push(
          old ? { type: 'modified', object: taken, old } : { type: 'added', object: taken, isInitial: false },
        );
      }
      partition.version = object.metadata.resourceVersion ?? partition.version;
    }
    this.#publish(events);
  }

  #advance(partition: Partition<T>, version: string): void {
    partition.version = version;
    this.#wake();
  }

  #publish(events: readonly StoreEvent<T>[]): void {
    for (const event of events) for (const handler of this.#handlers) this.#tell(handler, event);
    this.#wake();
  }

  #wake(): void {
    for (const look of this.#waiters) look();
  }

  /** One handler's mistake is loud, and does not keep the others from hearing. */
  #tell(handler: Handler<T>, event: StoreEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#log.error({ key: keyOf(event.object.metadata), error: messageOf(error) }, 'a cache handler failed');
    }
  }

  /** `like` is what the object probably has most in common with. */
  #taken(partition: Partition<T>, object: T, like: T | undefined): T {
    const taken = shared(object, like, partition.cousinOf(object));
    return this.#freeze ? deepFreeze(taken) : taken;
  }

  #reindex(key: string, old: T | undefined, object: T | undefined): void {
    for (const index of this.#indexes.values()) index.update(key, old, object);
  }

  #index(name: string): IndexMap<T> {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`there is no index ${name}; known: ${[...this.#indexes.keys()].join(', ')}`);
    return index;
  }

  #partitionOf(namespace: string | undefined): Partition<T> | undefined {
    return this.#partitions.get(ALL) ?? this.#partitions.get(namespace ?? ALL);
  }
}

/** An index that every store has. */
const NAMESPACE = 'namespace';

/** The name of the partition that holds all namespaces, and what has none. */
const ALL = '';

class Partition<T extends KubernetesObject> {
  objects = new Map<string, T>();
  /** The picture that a reflector is putting together. */
  next = new Map<string, T>();
  /** Up to where the picture is known; undefined before the first. */
  version: string | undefined;
  /** The last object seen of each owner, while a picture is put together. */
  readonly #siblings = new Map<string, T>();
  /** The last object seen of each kind of owner. */
  readonly #cousins = new Map<string, T>();

  begin(): void {
    this.next = new Map();
    this.#siblings.clear();
  }

  /** One that came before and was made by the same owner, from the same template as like as not. */
  siblingOf(object: T): T | undefined {
    return replaced(this.#siblings, object.metadata.ownerReferences?.[0]?.uid, object);
  }

  /** One that came before and was made by an owner of the same kind: an operator makes the same for all of its resources. */
  cousinOf(object: T): T | undefined {
    return replaced(this.#cousins, object.metadata.ownerReferences?.[0]?.kind, object);
  }
}

function replaced<T>(map: Map<string, T>, key: string | undefined, value: T): T | undefined {
  const before = map.get(key ?? '');
  map.set(key ?? '', value);
  return before;
}
