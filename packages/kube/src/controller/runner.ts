import { isDeepStrictEqual } from 'node:util';
import type { StoreEvent } from '../cache/index.ts';
import { type Clock, withTimeout } from '../clock/index.ts';
import type { EventRecorder, Happening } from '../events/index.ts';
import {
  apiVersionOf,
  type Kind,
  type KubernetesObject,
  keyOf,
  type ObjectRef,
  refOf,
  resourceNameOf,
} from '../kinds/index.ts';
import { type Logger, messageOf } from '../log.ts';
import { BACKGROUND, type QueueEvents, WorkQueue } from '../queue/index.ts';
import { Cluster, type ClusterParts, ownerIndex } from './cluster.ts';
import type { Controller, Lookup, World } from './controller.ts';
import { Echoes } from './echoes.ts';
import { type Outcome, UserMustAct } from './outcome.ts';
import { DEFAULT_PACE, type Pace } from './pace.ts';
import { type PassEvents, pass } from './pass.ts';
import type { Step } from './plan.ts';

export interface RunnerOptions<W extends World> {
  readonly parts: ClusterParts;
  readonly clock: Clock;
  /** 0 <= r < 1. Names passes in the log. */
  readonly random: () => number;
  readonly log: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Adds to a pass's world what the product needs beyond the cluster. */
  readonly world: (base: World) => W;
  readonly pace?: Pace | undefined;
  readonly on?: RunnerEvents | undefined;
}

/** Told of what happens, for metrics. */
export interface RunnerEvents extends PassEvents {
  /** The hooks of the controller's queue, which can be asked how full it is. */
  queue?(queue: () => Pick<WorkQueue, 'depths' | 'workingMs'>): QueueEvents;
  passStarted?(): void;
  /** `isCleanup`: over a resource that is being deleted. */
  passEnded?(result: PassResult, tookMs: number, isCleanup: boolean): void;
  /** There is no such resource any more. */
  forgotten?(ref: ObjectRef): void;
}

export type PassResult = 'success' | 'requeue_after' | 'error' | 'terminal' | 'timeout' | 'panic';

/** Passes mostly wait for answers, so a few at once cost nothing. */
export const WORKERS = 4;

/** A key whose last write is missing in the cache is put off; the write's event brings it back sooner. */
const STALE_MS = 100;

/** Runs one controller: turns changes into keys, and keys into passes. */
export class Runner<T extends KubernetesObject, Observed, S extends Step, W extends World> {
  readonly #definition: Controller<T, Observed, S, W>;
  readonly #options: RunnerOptions<W>;
  readonly #pace: Pace;
  readonly #queue: WorkQueue;
  readonly #subscriptions: { readonly unsubscribe: () => void }[] = [];
  /** Keys of which a minor change came while they were backing off, since their last pass began. */
  readonly #unseen = new Set<string>();
  readonly #echoes = new Echoes();
  /** Keys that were put off until our own last write is in the cache. */
  readonly #stale = new Set<string>();
  /** Keys whose last pass left it to the next one to tell the status. */
  readonly #untold = new Set<string>();
  #workers: Promise<void>[] = [];

  constructor(definition: Controller<T, Observed, S, W>, options: RunnerOptions<W>) {
    this.#definition = definition;
    this.#options = options;
    this.#pace = options.pace ?? DEFAULT_PACE;
    const { firstRetryMs, longestRetryMs } = this.#pace;
    this.#queue = new WorkQueue({
      clock: options.clock,
      backoff: (failures) => Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs),
      on: options.on?.queue?.(() => this.#queue) ?? {},
    });
  }

  get name(): string {
    return resourceNameOf(this.#definition.kind);
  }

  /** Begins to collect keys: of everything that the cache holds, then of what changes. */
  listen(): void {
    const { kind, owns = [], heeds = [], watches = [], bell } = this.#definition;
    this.#followOwn();
    for (const owned of owns) {
      const heed = heeds.find((one) => one.kind === owned);
      const matters = heed && ((object: KubernetesObject) => heed.matters(object));
      this.#follow(owned, (object) => ownersOf(object, kind), matters, heed !== undefined);
    }
    const { cache } = this.#options.parts;
    const lookup: Lookup = {
      list: (of, namespace) => cache.of(of, ownerIndex()).list(namespace),
      by: (index, value) => cache.of(index.kind, ownerIndex()).find(index, value),
    };
    for (const watch of watches) {
      const matters = 'matters' in watch ? (object: KubernetesObject) => watch.matters?.(object) : undefined;
      this.#follow(watch.kind, (object) => watch.concerns(object, lookup), matters);
    }
    if (bell) this.#subscriptions.push({ unsubscribe: bell.listen((ref) => this.#queue.add(keyOf(ref))) });
  }

  /** Begins to work; ends with the signal. */
  start(signal: AbortSignal): void {
    const { workers = WORKERS } = this.#definition;
    this.#workers = Array.from({ length: workers }, () => this.#work(signal));
    signal.addEventListener('abort', () => this.#queue.close(), { once: true });
  }

  /** Refuses new keys and waits for the passes under way. */
  async stop(): Promise<void> {
    for (const { unsubscribe } of this.#subscriptions) unsubscribe();
    this.#queue.close();
    await Promise.all(this.#workers);
  }

  /** Changes of other objects: of what matters, and of what we wrote ourselves unless that is no news. */
  #follow<O extends KubernetesObject>(
    kind: Kind<O>,
    concerns: (object: O) => readonly ObjectRef[],
    matters?: (object: O) => unknown,
    isOwnNoNews = false,
  ): void {
    this.#subscribe(kind, (event) => {
      if (matters && !isNews(event, matters)) return;
      // Each once: a worker that waits takes the first at once, and a second one would bring the key back after its pass.
      for (const key of new Set(statesIn(event).flatMap(concerns).map(keyOf))) {
        const isEcho = isOwnNoNews && this.#echoes.takes(key, { version: versionOf(event), isMinor: false });
        if (!isEcho) this.#add(key, event);
      }
    });
  }

  /** Changes of the resources themselves. */
  #followOwn(): void {
    this.#subscribe(this.#definition.kind, (event) => {
      const key = keyOf(event.object.metadata);
      const isMinor = isStatusAlone(event);
      if (this.#echoes.takes(key, { version: versionOf(event), isMinor })) {
        if (this.#stale.delete(key)) this.#queue.add(key);
      } else if (isMinor && this.#queue.failures(key) > 0) this.#unseen.add(key);
      else this.#add(key, event);
    });
  }

  #subscribe<O extends KubernetesObject>(kind: Kind<O>, handler: (event: StoreEvent<O>) => void): void {
    const { cache, lastApplied } = this.#options.parts;
    const subscription = cache.of(kind, ownerIndex<O>()).subscribe((event) => {
      const gone = goneWith(event);
      if (gone) lastApplied.forget(gone);
      handler(event);
    });
    this.#subscriptions.push(subscription);
  }

  #add<O>(key: string, event: StoreEvent<O>): void {
    this.#queue.add(key, { priority: event.type === 'added' && event.isInitial ? BACKGROUND : 0 });
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      // No pass, so neither a success that would end its backoff nor a failure that would add to it.
      if (this.#isStale(key)) {
        this.#stale.add(key);
        this.#queue.add(key, { afterMs: STALE_MS });
      } else {
        this.#stale.delete(key);
        await this.#reconcile(key, signal);
      }
      this.#queue.done(key);
    }
  }

  #isStale(key: string): boolean {
    const { cache, ownWrites } = this.#options.parts;
    const { kind } = this.#definition;
    return ownWrites.isStale(kind, cache.of(kind, ownerIndex<T>()), refOf(key));
  }

  async #reconcile(key: string, outer: AbortSignal): Promise<void> {
    const { clock, random, on } = this.#options;
    const id = Math.floor(random() * 2 ** 40).toString(36);
    const log = this.#options.log.child({ controller: this.name, ...refOf(key), reconcileID: id });
    const startedAt = clock.monotonic();
    on?.passStarted?.();
    this.#unseen.delete(key);
    this.#echoes.begin(key, this.#untold.has(key));
    const { cache } = this.#options.parts;
    const resource = cache.of(this.#definition.kind, ownerIndex<T>()).get(refOf(key));
    let result: PassResult;
    try {
      const outcome = await this.#pass(key, resource, outer, log);
      this.#queue.forget(key);
      if (outcome.isUntold) this.#untold.add(key);
      else this.#untold.delete(key);
      // The pass that ends a backoff began before that change, and no further attempt will see it.
      if (this.#unseen.delete(key)) this.#queue.add(key);
      result = outcome.next === 'look-again' ? 'requeue_after' : 'success';
      if (outcome.next === 'look-again') this.#queue.add(key, outcome);
    } catch (error) {
      result = this.#failed(key, error, outer, log);
    }
    for (const { isMinor } of this.#echoes.end(key)) {
      if (isMinor && this.#queue.failures(key) > 0) this.#unseen.add(key);
      else this.#queue.add(key);
    }
    const isCleanup = resource?.metadata.deletionTimestamp !== undefined;
    on?.passEnded?.(result, clock.monotonic() - startedAt, isCleanup);
  }

  async #pass(key: string, resource: T | undefined, outer: AbortSignal, log: Logger): Promise<Outcome> {
    const { parts, clock, events, world, on = {} } = this.#options;
    const { timeoutMs = this.#pace.passTimeoutMs } = this.#definition;
    if (!resource) {
      this.#definition.forget?.(refOf(key));
      this.#untold.delete(key);
      on.forgotten?.(refOf(key));
      return { next: 'await-change' };
    }
    return await withTimeout(clock, timeoutMs, outer, `reconciling ${key}`, async (signal) => {
      const tell = (happening: Happening) => events.record(resource, happening);
      const cluster = new Cluster(parts, signal);
      const base = { cluster, signal, log, tell };
      const isOwed = this.#untold.has(key);
      const tools = { world: world(base), clock, events, pace: this.#pace, on, isOwed };
      const outcome = await untilAborted(pass(this.#definition, resource, tools), signal);
      // What it left of the resource itself may have to be looked at once more.
      const unsettled = outcome.isSettled ? [] : cluster.versionsOf(resource);
      this.#echoes.wrote(
        key,
        cluster.versions.filter((version) => !unsettled.includes(version)),
      );
      return outcome;
    });
  }

  #failed(key: string, error: unknown, outer: AbortSignal, log: Logger): PassResult {
    const because = messageOf(error);
    if (outer.aborted) return 'error'; // stopping: whoever leads next starts afresh
    if (error instanceof UserMustAct) {
      this.#queue.forget(key);
      log.warn({ reason: error.reason, because }, 'the user must act');
      return 'terminal';
    }
    this.#queue.retry(key);
    const stack = isBug(error) ? error.stack : undefined;
    log.error({ error: because, stack, failures: this.#queue.failures(key) }, 'reconcile failed, trying again');
    if (isBug(error)) return 'panic';
    return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'error';
  }
}

/** Whether something changed that matters. (What did not change is the same object, which is compared in no time.) */
function isNews<O extends KubernetesObject>(event: StoreEvent<O>, matters: (object: O) => unknown): boolean {
  switch (event.type) {
    case 'added':
      return matters(event.object) !== undefined;
    case 'modified':
      // A successor of the same name is another one, however alike.
      if (event.old.metadata.uid !== event.object.metadata.uid) return true;
      return !isDeepStrictEqual(matters(event.old), matters(event.object));
    case 'deleted':
      return true;
  }
}

/** A mistake in the program. `fetch` throws a TypeError for a broken connection, too, but that one names its cause. */
function isBug(error: unknown): error is Error {
  return (error instanceof TypeError || error instanceof ReferenceError) && error.cause === undefined;
}

/** A call that ignores its signal would otherwise hold the key, and a worker, for ever. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

const versionOf = <T extends KubernetesObject>({ object }: StoreEvent<T>): string =>
  object.metadata.resourceVersion ?? '';

/** A change concerns those whom the old state concerned, too: the one who lost an object has to hear of it. */
function statesIn<T>(event: StoreEvent<T>): readonly T[] {
  return event.type === 'modified' ? [event.old, event.object] : [event.object];
}

/** A list may show a successor of the same name where the deletion itself was missed. */
function goneWith<T extends KubernetesObject>(event: StoreEvent<T>): T | undefined {
  if (event.type === 'deleted') return event.object;
  if (event.type === 'modified' && event.old.metadata.uid !== event.object.metadata.uid) return event.old;
  return undefined;
}

/**
 * Nothing changed but the status, which is ours: the report of a failure must not be what tries again at once. (What did not
 * change is the same object: the store shares it between versions.)
 */
function isStatusAlone(event: StoreEvent<KubernetesObject & { readonly spec?: unknown }>): boolean {
  if (event.type !== 'modified') return false;
  const { old, object } = event;
  const version = { resourceVersion: '', generation: 0 };
  return (
    old.spec === object.spec && isDeepStrictEqual({ ...old.metadata, ...version }, { ...object.metadata, ...version })
  );
}

function ownersOf(object: KubernetesObject, kind: Kind): readonly ObjectRef[] {
  const owner = object.metadata.ownerReferences?.find((one) => one.controller);
  if (owner?.kind !== kind.kind || groupOf(owner.apiVersion) !== groupOf(apiVersionOf(kind))) return [];
  return [{ namespace: kind.namespaced ? object.metadata.namespace : undefined, name: owner.name }];
}

/** Versions of a group are views of the same object; an owner may have been named by another one than ours. */
const groupOf = (apiVersion: string) => apiVersion.split('/').at(-2) ?? '';
