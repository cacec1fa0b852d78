import { setMaxListeners } from 'node:events';
import type { Client } from '../client/index.ts';
import type { Clock } from '../clock/index.ts';
import { type Kind, type KubernetesObject, resourceNameOf } from '../kinds/object.ts';
import type { Logger } from '../log.ts';
import { Reflector, type ReflectorEvents } from '../reflector/index.ts';
import { type Indexes, Store } from './store.ts';

export interface CacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Watch only these namespaces; all of them without it. Kinds without a namespace are watched as a whole. */
  readonly namespaces?: readonly string[] | undefined;
  readonly freeze?: boolean | undefined;
  /** Told of what the reflector of a kind does, for metrics. */
  readonly on?: ((kind: Kind) => ReflectorEvents) | undefined;
}

/** The stores of all kinds that somebody asked for, each kept by reflectors of its own. */
export class Cache {
  readonly #options: CacheOptions;
  readonly #entries = new Map<string, AnyEntry>();
  readonly #stop = new AbortController();
  #isRunning = false;
  readonly #reflectors: Promise<void>[] = [];

  constructor(options: CacheOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
  }

  /** The store of a kind. Asking for it is what makes the cache watch it; indexes have to be named at the first time. */
  of<T extends KubernetesObject>(kind: Kind<T>, indexes?: Indexes<T>): Store<T> {
    const name = resourceNameOf(kind);
    const known = this.#entries.get(name);
    if (known && isOf(known, kind)) return known.store;
    const { log, namespaces, freeze } = this.#options;
    const own = kind.namespaced ? namespaces : undefined;
    const store = new Store<T>({ log: log.child({ resource: name }), indexes, namespaces: own, freeze });
    const start = () => {
      for (const namespace of own ?? [undefined]) this.#reflect(kind, store, namespace);
    };
    const entry: Entry<T> = { kind, store, start };
    this.#entries.set(name, entry);
    if (this.#isRunning) start();
    return store;
  }

  /** Whether somebody asked for this kind. */
  has(kind: Kind): boolean {
    return this.#entries.has(resourceNameOf(kind));
  }

  /** Starts to watch; kinds asked for later are watched at once. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (const { start } of this.#entries.values()) start();
  }

  /** Every kind asked for so far has its first whole picture; or each of these, if only they matter. */
  async synced(signal?: AbortSignal, kinds?: readonly Kind[]): Promise<void> {
    const stores = kinds ? kinds.map((kind) => this.of(kind)) : [...this.#entries.values()].map(({ store }) => store);
    for (const store of stores) await store.until(() => store.isSynced, signal);
  }

  /** The kinds whose first picture is not whole yet. */
  get unsynced(): Kind[] {
    return [...this.#entries.values()].filter(({ store }) => !store.isSynced).map(({ kind }) => kind);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the cache was stopped'));
    await Promise.all(this.#reflectors);
  }

  #reflect<T extends KubernetesObject>(kind: Kind<T>, store: Store<T>, namespace: string | undefined): void {
    const { client, clock, random, log, on } = this.#options;
    const sink = store.sink(namespace);
    const reflector = new Reflector<T>({ client, kind, sink, clock, random, log, namespace, on: on?.(kind) });
    this.#reflectors.push(reflector.run(this.#stop.signal));
  }
}

interface AnyEntry {
  readonly kind: Kind;
  readonly store: Pick<Store<KubernetesObject>, 'isSynced' | 'until'>;
  readonly start: () => void;
}

interface Entry<T extends KubernetesObject> extends AnyEntry {
  readonly store: Store<T>;
}

/** Kinds are data: the same name means the same type of objects. */
function isOf<T extends KubernetesObject>(entry: AnyEntry, kind: Kind<T>): entry is Entry<T> {
  return resourceNameOf(entry.kind) === resourceNameOf(kind);
}
