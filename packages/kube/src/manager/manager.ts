import { hostname } from 'node:os';
import { Cache } from '../cache/index.ts';
import { Client, type ClientOptions, type Transport } from '../client/index.ts';
import { type Clock, systemClock, type Timer } from '../clock/index.ts';
import { ownerIndex } from '../controller/index.ts';
import { EventRecorder } from '../events/index.ts';
import { type Kind, resourceNameOf } from '../kinds/index.ts';
import { type ElectionEvents, LeaderElector, type Leadership } from '../lease/index.ts';
import type { Logger } from '../log.ts';
import { type ManagerEvents, type ProductEvents, together } from './events.ts';
import type { Product } from './product.ts';
import { FLUSH_MS, lead } from './term.ts';

export interface ManagerOptions {
  readonly transport: Transport;
  /** Names the program to the API server: `polder/1.2`. */
  readonly userAgent: string;
  readonly products: readonly Product[];
  readonly log: Logger;
  readonly clock?: Clock;
  /** 0 <= r < 1. */
  readonly random?: () => number;
  /** Where this process runs: people read it in leases and events. The machine's name unless told otherwise. */
  readonly host?: string | undefined;
  /** Watch only these namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** What runs with or without leadership (probes, metrics, webhooks), in this order; stopped in the opposite one. */
  readonly servers?: readonly Server[];
  /** How long a stop may take before passes still under way are cut off. Default 30 s. */
  readonly graceMs?: number;
  readonly on?: ManagerEvents | undefined;
  /** Freeze what is in the cache, so that a test fails where code changes a shared object. */
  readonly freeze?: boolean | undefined;
}

/** Starts to serve; resolves once it does. */
export type Server = () => Promise<{ close(): Promise<void> }>;

/**
 * Runs products in one process.
 *
 * Up: servers, then caches, then for each product, as soon as its own kinds are read, its lease and its controllers. Servers
 * come before caches because the first list of a converted kind needs the conversion webhook, and because probes should
 * answer meanwhile. A kind that is not installed keeps its product waiting until it is, and no other.
 * Down: controllers finish what they have in hand, for at most `graceMs`; leases are released, then caches, then servers.
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #clientOptions: Omit<ClientOptions, 'transport'>;
  readonly #client: Client;
  readonly #cache: Cache;
  readonly #identity: string;

  constructor(options: ManagerOptions) {
    const { transport, userAgent, log, on, namespaces, freeze, products } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#identity = `${options.host ?? hostname()}_${Math.floor(this.#random() * 2 ** 48).toString(36)}`;
    this.#clientOptions = { userAgent, clock: this.#clock, log, ...(on?.answered && { onAnswer: on.answered }) };
    this.#client = new Client({ ...this.#clientOptions, transport });
    this.#cache = new Cache({
      client: this.#client,
      clock: this.#clock,
      random: this.#random,
      log,
      namespaces,
      freeze,
      on: (kind) => this.#eventsOf(kind).reflecting?.(kind) ?? {},
    });
    const kinds = new Map(products.flatMap(kindsOf).map((kind) => [resourceNameOf(kind), kind]));
    for (const kind of kinds.values()) this.#eventsOf(kind).caching?.(kind, this.#cache.of(kind, ownerIndex()));
  }

  /** What this process caches; for servers that look things up and for readiness. */
  get cache(): Cache {
    return this.#cache;
  }

  /** Until the signal aborts and everything is down again. Rejects if it could not be brought up. */
  async run(stop: AbortSignal): Promise<void> {
    const up: { close(): Promise<void> }[] = [];
    try {
      for (const start of this.#options.servers ?? []) up.push(await start());
      this.#cache.start();
      up.push({ close: () => this.#cache.stop() });
      await Promise.all(this.#options.products.map((product) => this.#standBy(product, stop)));
    } finally {
      for (const one of up.toReversed()) await one.close();
    }
  }

  /** The kinds of a product that are not read yet: it begins when there are none. */
  awaited(product: Product): readonly Kind[] {
    const names = kindsOf(product).map(resourceNameOf);
    return this.#cache.unsynced.filter((kind) => names.includes(resourceNameOf(kind)));
  }

  /** Whoever hears of this kind: we, and those products that have to do with it. */
  #eventsOf(kind: Kind): ProductEvents {
    const { products, on = {} } = this.#options;
    const has = (product: Product) => kindsOf(product).some((one) => resourceNameOf(one) === resourceNameOf(kind));
    return together([on, ...products.filter(has).flatMap((product) => product.on ?? [])]);
  }

  /** Term after term: who loses the lease stops at once, and waits for the next. */
  async #standBy(product: Product, stop: AbortSignal): Promise<void> {
    const { log } = this.#options;
    await unlessStopped(stop, this.#cache.synced(stop, kindsOf(product)));
    const reporter = { controller: product.fieldManager, instance: this.#identity };
    const recorder = { client: this.#client, clock: this.#clock, random: this.#random, log, reporter };
    const events = new EventRecorder(recorder);
    const elect = this.#election(product, events);
    while (!stop.aborted) {
      const leadership = await unlessStopped(stop, elect(stop));
      if (leadership) await this.#serveTerm(product, leadership, stop);
    }
    await events.flush(FLUSH_MS);
    await events.stop();
  }

  async #serveTerm(product: Product, leadership: Leadership, stop: AbortSignal): Promise<void> {
    const cutOff = new AbortController();
    const term = {
      signal: AbortSignal.any([leadership.signal, cutOff.signal]),
      isHeld: () => !cutOff.signal.aborted && leadership.isHeld(),
    };
    let grace: Timer | undefined;
    const onStop = () => {
      const end = () => cutOff.abort(new Error('the time to stop is over'));
      grace = this.#clock.after(this.#options.graceMs ?? GRACE_MS, end);
    };
    stop.addEventListener('abort', onStop, { once: true });
    await lead(product, term, stop, {
      cache: this.#cache,
      transport: this.#options.transport,
      clientOptions: this.#clientOptions,
      clock: this.#clock,
      random: this.#random,
      log: this.#options.log.child({ product: product.name }),
      identity: this.#identity,
      on: together([this.#options.on ?? {}, product.on ?? {}]),
    });
    stop.removeEventListener('abort', onStop);
    grace?.cancel();
    await leadership.release();
  }

  #election(product: Product, events: EventRecorder): (stop: AbortSignal) => Promise<Leadership> {
    const on = together([this.#options.on ?? {}, product.on ?? {}]).leading?.(product.name);
    if (!product.lease) return async () => alwaysLeading(on);
    const { timings, ...lease } = product.lease;
    const elector = new LeaderElector({
      client: this.#client,
      clock: this.#clock,
      random: this.#random,
      log: this.#options.log.child({ product: product.name }),
      lease,
      timings,
      identity: this.#identity,
      events,
      on,
    });
    return (stop) => elector.acquire(stop);
  }
}

const GRACE_MS = 30_000;

function alwaysLeading(on: ElectionEvents | undefined): Leadership {
  on?.gained?.();
  return { signal: new AbortController().signal, isHeld: () => true, release: async () => on?.lost?.() };
}

const kindsOf = ({ controllers }: Product): readonly Kind[] => controllers.flatMap(({ kinds }) => kinds);

/** What was waited for, or undefined if we are to stop instead. */
async function unlessStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  }
}
