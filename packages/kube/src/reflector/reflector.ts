import { ApiError, type Client, slim, type WatchEvent } from '../client/index.ts';
import { type Clock, sleep } from '../clock/index.ts';
import type { Kind, KubernetesObject } from '../kinds/object.ts';
import { resourceNameOf } from '../kinds/object.ts';
import { type Logger, messageOf } from '../log.ts';
import { backoffMs, type Ending, next, type State } from './state.ts';

/** Where a reflector puts what it learns. All calls are synchronous, so that a reader never sees half of a step. */
export interface ReflectorSink<T> {
  /** A whole new picture begins; the old one stays valid until it is complete. */
  begin(): void;
  /** Objects of the new picture. */
  seed(objects: readonly T[]): void;
  /** The new picture is whole and replaces the old one. */
  complete(version: string): void;
  /** Changes to the picture, in order. */
  change(events: readonly ChangeEvent<T>[]): void;
  /** Nothing else happened up to this version. */
  progress(version: string): void;
}

export type ChangeEvent<T> = Extract<WatchEvent<T>, { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' }>;

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  /** 0 <= r < 1. Spreads reconnections, so that a thousand reflectors do not return in the same second. */
  readonly random: () => number;
  readonly log: Logger;
  /** All namespaces without it. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Told of what happens, for metrics. */
  readonly on?: ReflectorEvents | undefined;
}

export interface ReflectorEvents {
  /** A new picture is fetched; `first`, or what made the old one worthless. */
  fetching?(cause: string): void;
  /** The server tells what changes, from now until this watch ends. */
  opened?(): void;
  /** Something was heard of the server. */
  heard?(): void;
  /** A fetch or a watch is over, and the next one follows. */
  ended?(ending: Ending, during: Phase): void;
}

/** What an attempt was at when it ended: at fetching a whole picture, at opening a watch, or the watch was open. */
export type Phase = 'fetching' | 'opening' | 'open';

/** The server sends a bookmark every minute even when nothing changes. */
const SILENCE_MS = 90_000;
/** A watch that lives this long is worth resetting the backoff for. */
const HEALTHY_MS = 30_000;
const USELESS_MS = 1_000;

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * Keeps a sink equal to the server's objects of one kind, whatever happens to connections and servers in between.
 * Which step follows which is decided in `state.ts`; this class carries the steps out.
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  #canStream = true;
  #isOpen = false;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  /** Runs until the signal aborts; never fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, kind, log, random, on } = this.#options;
    let state: State = { do: 'stream' };
    let cause = 'first';
    let failures = 0;
    while (!signal.aborted) {
      if (state.do !== 'watch') on?.fetching?.(cause);
      const startedAt = clock.monotonic();
      this.#isOpen = false;
      const ending = await this.#carryOut(state, signal);
      if (signal.aborted) return;
      const then = next(state, ending, this.#canStream);
      // That this server knows pages only is no trouble: it is asked for pages.
      if (!then.cannotStream) on?.ended?.(ending, this.#phaseOf(state, ending));
      if (then.cannotStream) this.#canStream = false;
      if (clock.monotonic() - startedAt >= HEALTHY_MS) failures = 0;
      cause = ending.ended === 'failed' && ending.error instanceof ApiError ? ending.error.reason : ending.ended;
      if (ending.ended === 'failed' || ending.ended === 'silent') {
        const why = ending.ended === 'failed' ? messageOf(ending.error) : `nothing heard for ${SILENCE_MS / 1000} s`;
        log.warn(
          { resource: resourceNameOf(kind), was: state.do, resumesWith: then.state.do, because: why },
          'watch broken, resuming',
        );
      }
      state = then.state;
      if (then.backOff) await sleep(clock, backoffMs(++failures, random()), signal).catch(() => {});
    }
  }

  #phaseOf(state: State, ending: Ending): Phase {
    if (state.do === 'list' || ending.version === undefined) return 'fetching';
    return this.#isOpen ? 'open' : 'opening';
  }

  async #carryOut(state: State, signal: AbortSignal): Promise<Ending> {
    if (state.do !== 'list') return await this.#watch(state, signal);
    try {
      return { ended: 'listed', version: await this.#list(signal) };
    } catch (error) {
      return { ended: 'failed', error, version: undefined };
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, kind, sink, namespace, labelSelector, fieldSelector } = this.#options;
    sink.begin();
    let version = '';
    const where = { namespace, labelSelector, fieldSelector, signal };
    for await (const page of client.pages(kind, where)) {
      sink.seed(page.items.map(slim));
      version = page.metadata.resourceVersion;
    }
    sink.complete(version);
    return version;
  }

  async #watch(state: Extract<State, { do: 'stream' | 'watch' }>, outer: AbortSignal): Promise<Ending> {
    const { client, clock, kind, sink, random, on, namespace, labelSelector, fieldSelector } = this.#options;
    const startedAt = clock.monotonic();
    let heardAt = startedAt;
    let isHeard = false;
    let version = state.do === 'watch' ? state.from : undefined;

    const silence = new AbortController();
    const check = () => {
      const quiet = clock.monotonic() - heardAt;
      if (quiet >= SILENCE_MS) silence.abort(new Error('silence'));
      else guard = clock.after(SILENCE_MS - quiet, check);
    };
    let guard = clock.after(SILENCE_MS, check);

    if (state.do === 'stream') sink.begin();
    try {
      const batches = client.watch(kind, {
        namespace,
        labelSelector,
        fieldSelector,
        resourceVersion: version,
        sendInitialEvents: state.do === 'stream' || undefined,
        allowWatchBookmarks: true,
        // Coming back now and then spreads the watches over the API servers again after one of them was away.
        timeoutSeconds: Math.floor(300 + 300 * random()),
        slim: true,
        onOpen: () => {
          this.#isOpen = true;
          on?.opened?.();
        },
        signal: AbortSignal.any([outer, silence.signal]),
      });
      for await (const batch of batches) {
        heardAt = clock.monotonic();
        isHeard = true;
        on?.heard?.();
        version = take(batch, version, sink);
      }
      if (version === undefined) throw new Error('the server ended the initial list half-way');
      return { ended: 'closed', version, wasUseless: !isHeard && clock.monotonic() - startedAt < USELESS_MS };
    } catch (error) {
      return silence.signal.aborted ? { ended: 'silent', version } : { ended: 'failed', error, version };
    } finally {
      guard.cancel();
    }
  }
}

/** Puts a batch into the sink and returns the version up to which the picture is now known; undefined until it is whole. */
function take<T extends KubernetesObject>(
  batch: readonly WatchEvent<T>[],
  known: string | undefined,
  sink: ReflectorSink<T>,
): string | undefined {
  let version = known;
  let changes: ChangeEvent<T>[] = [];
  const flush = () => {
    if (changes.length === 0) return;
    // Versions of the initial events are in no order: until their end only the objects count.
    if (version === undefined) sink.seed(changes.map((event) => event.object));
    else {
      sink.change(changes);
      version = changes.at(-1)?.object.metadata.resourceVersion ?? version;
    }
    changes = [];
  };
  for (const event of batch) {
    if (event.type === 'ERROR') {
      flush();
      throw new ApiError(event.object.code ?? 500, event.object);
    }
    if (event.type !== 'BOOKMARK') {
      changes.push(event);
      continue;
    }
    flush();
    const { resourceVersion, annotations } = event.object.metadata;
    if (resourceVersion === undefined) continue;
    if (version !== undefined) sink.progress(resourceVersion);
    else if (annotations?.[INITIAL_EVENTS_END] === 'true') sink.complete(resourceVersion);
    else continue;
    version = resourceVersion;
  }
  flush();
  return version;
}
