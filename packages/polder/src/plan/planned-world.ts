import {
  Cache,
  type Client,
  type Clock,
  type Kind,
  type KubernetesObject,
  LastApplied,
  type Logger,
  OwnWrites,
  ownerIndex,
  type Preview,
  type Product,
  type Registration,
} from '@polder/kube';

export interface WorldTools {
  /** Nothing it is asked for is written. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Namespaces, beside those of the manifests, that controllers may look into. */
  readonly alsoIn: readonly string[];
}

/** An object as it would be. */
export interface WantedObject {
  readonly kind: Kind;
  readonly object: KubernetesObject;
}

/**
 * The cluster as it would be with the manifests in it, for controllers to look at: what is there, from a cache of its own,
 * and what would be there laid over it.
 */
export class PlannedWorld {
  readonly #wanted: readonly WantedObject[];
  readonly #tools: WorldTools;
  readonly #cache: Cache;
  #isStarted = false;

  constructor(wanted: readonly WantedObject[], tools: WorldTools) {
    this.#wanted = wanted;
    this.#tools = tools;
    const { client, clock, random, log } = tools;
    const mentioned = wanted.flatMap(({ object }) => namespacesIn(object));
    const namespaces = [...new Set([...mentioned, ...tools.alsoIn])];
    this.#cache = new Cache({ client, clock, random, log, ...(namespaces.length > 0 && { namespaces }) });
  }

  async preview(
    controller: Registration,
    { fieldManager, controllers }: Product,
    object: KubernetesObject,
  ): Promise<Preview> {
    const { client, clock, log, signal } = this.#tools;
    const kinds = controllers.flatMap((one) => one.kinds);
    await this.#see(kinds);
    const [ownWrites, lastApplied] = [new OwnWrites(), new LastApplied(fieldManager)];
    const parts = { client, cache: this.#cache, ownWrites, lastApplied, fieldManager, kinds, clock };
    return controller.preview(object, { parts, clock, log, signal });
  }

  async stop(): Promise<void> {
    if (this.#isStarted) await this.#cache.stop();
  }

  async #see(kinds: readonly Kind[]): Promise<void> {
    for (const kind of kinds) this.#cache.of(kind, ownerIndex());
    this.#cache.start();
    this.#isStarted = true;
    await this.#cache.synced(this.#tools.signal);
    for (const { kind, object } of this.#wanted) {
      if (!this.#cache.has(kind)) continue;
      const { namespace } = object.metadata;
      const sink = this.#cache.of(kind).sink(kind.namespaced ? namespace : undefined);
      // Newer than all there is: a version that the store knows would be taken for what it has.
      sink.change([
        { type: 'MODIFIED', object: { ...object, metadata: { ...object.metadata, resourceVersion: LAST } } },
      ]);
    }
  }
}

const LAST = '9'.repeat(18);

/** All that a manifest mentions: its own, and those that it refers to. */
function namespacesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    name === 'namespace' && typeof inner === 'string' ? [inner] : namespacesIn(inner),
  );
}
