import type { Cache, Index, Indexes, OwnWrites, Store } from '../cache/index.ts';
import {
  type Below,
  type Client,
  type DeleteOptions,
  type ListOptions,
  type NewObject,
  type Patch,
  slim,
  type WriteOptions,
} from '../client/index.ts';
import type { Clock } from '../clock/index.ts';
import { apiVersionOf, type Kind, type KubernetesObject, type ObjectRef, resourceNameOf } from '../kinds/index.ts';
import type { LastApplied } from './applied.ts';

/** Everything a cluster's passes share. */
export interface ClusterParts {
  readonly client: Client;
  readonly cache: Cache;
  readonly ownWrites: OwnWrites;
  readonly lastApplied: LastApplied;
  /** The name under which we own fields: one for each product. */
  readonly fieldManager: string;
  /** Kinds that objects of a plan can be of. */
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  /** Told how long a read waited for our own write, for metrics. */
  readonly onWait?: ((kind: Kind, ms: number) => void) | undefined;
  /** Told when an object was not as we had left it, and is so again. */
  readonly onDrift?: ((kind: Kind) => void) | undefined;
}

/**
 * The cluster, as one pass of a controller sees it: reads come from the cache and are never older than our own last write
 * (they wait for it); writes are remembered for that; and everything ends when the pass does.
 */
export class Cluster {
  readonly #parts: ClusterParts;
  readonly #signal: AbortSignal;
  /** In which versions this pass left what it wrote, by uid, the last one at the end. */
  readonly #left = new Map<string, string[]>();

  constructor(parts: ClusterParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** From the cache; undefined if there is no such object. */
  async get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Promise<T | undefined> {
    const store = await this.#fresh(kind, ref);
    return store.get(ref);
  }

  /** From the cache. */
  async list<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): Promise<T[]> {
    const store = await this.#fresh(kind);
    return store.list(namespace);
  }

  /** From the cache: the objects of a kind that `owner` controls. */
  async owned<T extends KubernetesObject>(kind: Kind<T>, owner: KubernetesObject): Promise<T[]> {
    const store = await this.#fresh(kind);
    return store.by(OWNER, owner.metadata.uid ?? '');
  }

  /** From the cache: the objects of a kind in a namespace that nobody controls. */
  async unowned<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): Promise<T[]> {
    const store = await this.#fresh(kind);
    return store.by(OWNER, nobodyIn(namespace));
  }

  /** From the cache: the objects that an index has under a value. */
  async find<T extends KubernetesObject>(index: Index<T>, value: string): Promise<T[]> {
    const store = await this.#fresh(index.kind);
    return store.find(index, value);
  }

  /** From the API server itself: for the rare decision that even a fresh cache is too old for. Fails if there is none. */
  getLive<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Promise<T> {
    return this.#parts.client.get(kind, ref, { signal: this.#signal });
  }

  /**
   * From the API server itself, all of them: for kinds that may not be installed, which nobody can watch. Fails if the kind
   * is not there.
   */
  async listLive<T extends KubernetesObject>(
    kind: Kind<T>,
    select: Pick<ListOptions, 'namespace' | 'labelSelector'>,
  ): Promise<readonly T[]> {
    const pages = await Array.fromAsync(this.#parts.client.pages(kind, { ...select, signal: this.#signal }));
    return pages.flatMap(({ items }) => items);
  }

  /** In which versions this pass left an object. */
  versionsOf({ metadata }: KubernetesObject): readonly string[] {
    return this.#left.get(metadata.uid ?? '') ?? [];
  }

  /** The versions of all that this pass wrote. */
  get versions(): readonly string[] {
    return [...this.#left.values()].flat();
  }

  /**
   * Makes the object so (server-side apply, as this product); no request if nothing would change. `version`: only while it is
   * still in that one, a conflict otherwise.
   */
  async apply(desired: KubernetesObject, version?: string): Promise<KubernetesObject> {
    const { client, lastApplied, fieldManager, onDrift } = this.#parts;
    const kind = this.#kindOf(desired);
    const live = await this.get(kind, desired.metadata);
    if (live && lastApplied.isInPlace(desired, live)) return live;
    const hasDrifted = lastApplied.hasDrifted(desired, live);
    const sent = version === undefined ? desired : inVersion(desired, version);
    const answer = slim(await client.apply(kind, sent, { fieldManager, force: true, signal: this.#signal }));
    this.#wrote(kind, answer);
    lastApplied.remember(desired, answer);
    // Not before: whoever tries again would find the same difference again.
    if (hasDrifted) onDrift?.(kind);
    return answer;
  }

  create<T extends KubernetesObject>(kind: Kind<T>, object: NewObject<T>): Promise<T> {
    return this.#written(kind, this.#parts.client.create(kind, object, this.#write()));
  }

  /** Creates what stands below an object (a binding, an eviction below its pod). Later reads see what that did to the object. */
  async createBelow<T extends KubernetesObject>(kind: Kind<T>, object: T, below: Below): Promise<void> {
    await this.#parts.client.createBelow(kind, object, below, this.#write());
    await this.#written(kind, this.getLive(kind, object.metadata));
  }

  /** Replaces the object, if it is still at the version that `object` carries. */
  update<T extends KubernetesObject>(kind: Kind<T>, object: T): Promise<T> {
    return this.#written(kind, this.#parts.client.update(kind, object, this.#write()));
  }

  patch<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef, patch: Patch): Promise<T> {
    return this.#written(kind, this.#parts.client.patch(kind, ref, patch, this.#write()));
  }

  /**
   * Makes the whole of a resource's status so, if it is still at the version that `resource` carries, or at the one in which
   * this pass left it. A status is what the next pass remembers: one of a process that was held up on the way must not take
   * the place of a newer one. The uid keeps a successor of the same name from getting it.
   */
  async applyStatus<T extends KubernetesObject>(kind: Kind<T>, { metadata }: T, status: object): Promise<void> {
    const { client, fieldManager } = this.#parts;
    const { name, namespace, uid = '' } = metadata;
    const resourceVersion = this.#left.get(uid)?.at(-1) ?? metadata.resourceVersion;
    const identity = { name, ...(namespace && { namespace }), ...(uid && { uid }) };
    const applied = { metadata: { ...identity, ...(resourceVersion && { resourceVersion }) }, status };
    const options = { fieldManager, force: true, subresource: 'status', signal: this.#signal } as const;
    this.#wrote(kind, await client.apply<WithStatus>(kind, applied, options));
  }

  /** Deletes this very object: one of the same name that came later is left alone. */
  async delete<T extends KubernetesObject>(
    kind: Kind<T>,
    object: T,
    options: Omit<DeleteOptions, 'signal'> = {},
  ): Promise<void> {
    const { client, lastApplied } = this.#parts;
    const { uid } = object.metadata;
    const preconditions = { ...(uid !== undefined && { uid }), ...options.preconditions };
    const answer = await client.delete(kind, object.metadata, { ...options, preconditions, signal: this.#signal });
    lastApplied.deleted(object);
    if ('metadata' in answer && answer.kind === kind.kind) this.#wrote(kind, answer);
    else if (uid !== undefined) this.#writesOf(kind)?.deleted(kind, object.metadata, uid);
  }

  async #written<T extends KubernetesObject>(kind: Kind<T>, write: Promise<T>): Promise<T> {
    const answer = slim(await write);
    this.#wrote(kind, answer);
    return answer;
  }

  #wrote(kind: Kind, answer: KubernetesObject): void {
    const { uid, resourceVersion } = answer.metadata;
    if (uid !== undefined && resourceVersion !== undefined) {
      this.#left.set(uid, [...(this.#left.get(uid) ?? []), resourceVersion]);
    }
    this.#parts.lastApplied.wrote(answer);
    this.#writesOf(kind)?.wrote(kind, answer);
  }

  /** None for a kind that nobody caches: it can't be read stale, and a first list later on is newer than the write. */
  #writesOf(kind: Kind): OwnWrites | undefined {
    const { cache, ownWrites } = this.#parts;
    if (!cache.has(kind)) return undefined;
    ownWrites.forgetSeen(kind, cache.of(kind));
    return ownWrites;
  }

  #write(): WriteOptions {
    return { fieldManager: this.#parts.fieldManager, signal: this.#signal };
  }

  async #fresh<T extends KubernetesObject>(kind: Kind<T>, ref?: ObjectRef): Promise<Store<T>> {
    const { cache, ownWrites, clock, onWait } = this.#parts;
    const store = cache.of(kind, ownerIndex<T>());
    const isFresh = () => store.isSynced && !ownWrites.isStale(kind, store, ref);
    if (isFresh()) return store;
    const startedAt = clock.monotonic();
    await store.until(isFresh, this.#signal);
    onWait?.(kind, clock.monotonic() - startedAt);
    return store;
  }

  #kindOf(object: KubernetesObject): Kind {
    const kind = this.#parts.kinds.find((one) => one.kind === object.kind && apiVersionOf(one) === object.apiVersion);
    if (kind) return kind;
    const known = this.#parts.kinds.map(resourceNameOf).join(', ');
    throw new Error(`a plan has an object of unknown kind ${object.apiVersion} ${object.kind}; known: ${known}`);
  }
}

const inVersion = (object: KubernetesObject, resourceVersion: string): KubernetesObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

type WithStatus = KubernetesObject & { readonly status?: object };

/** Every store has it: the objects that an owner controls, by the owner's uid, and those that nobody controls. */
const OWNER = 'owner';

export function ownerIndex<T extends KubernetesObject>(): Indexes<T> {
  return {
    [OWNER]: ({ metadata }) => [
      metadata.ownerReferences?.find((one) => one.controller)?.uid ?? nobodyIn(metadata.namespace),
    ],
  };
}

/** Stands for the owner of what has none. No uid looks like it. */
const nobodyIn = (namespace = '') => `nobody in ${namespace}`;
