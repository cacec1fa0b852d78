import { type ApiServer, createApiServer } from '@polder/embedded';
import {
  Client,
  CustomResourceDefinition,
  crdOf,
  Manager,
  type ManagerOptions,
  register,
  silentLogger,
  type Transport,
  VirtualClock,
} from '../src/index.ts';
import { Factory, Widget, widgets } from './widgets.ts';

/** An operator process of the test: its own manager, its own connection, and a count of what it wrote. */
export interface Operator {
  /** `POST /api/v1/…`, in order; leases and events apart. */
  readonly writes: string[];
  stop(): Promise<void>;
}

/** A whole world under a virtual clock: the embedded API server, and as many operators as a test wants. */
export class TestCluster {
  readonly clock = new VirtualClock();
  readonly factory = new Factory();
  readonly server: ApiServer;
  /** A user's client. */
  readonly client: Client;
  readonly #random = seeded(1);

  constructor() {
    this.server = createApiServer({ clock: this.clock, random: this.#random });
    this.client = new Client({ transport: this.server.transport(), userAgent: 'user', clock: this.clock });
  }

  async install(): Promise<this> {
    await this.client.apply(CustomResourceDefinition, crdOf(Widget), { fieldManager: 'test', force: true });
    return this;
  }

  /** Starts an operator; with `lease`, it works only while it leads. */
  operator(options: { lease?: boolean } & Partial<ManagerOptions> = {}): Operator {
    const stop = new AbortController();
    const writes: string[] = [];
    const product = {
      name: 'widgets',
      fieldManager: 'widgets',
      controllers: [register(widgets, (world) => ({ ...world, factory: this.factory }))],
      ...(options.lease && { lease: { namespace: 'default', name: 'widgets' } }),
    };
    const { lease: _, ...rest } = options;
    const manager = new Manager({
      transport: counting(options.transport ?? this.server.transport(), writes),
      userAgent: 'widgets/1',
      clock: this.clock,
      random: this.#random,
      log: silentLogger,
      products: [product],
      freeze: true,
      ...rest,
    });
    const done = manager.run(stop.signal);
    return {
      writes,
      stop: async () => {
        stop.abort(new Error('the test stops it'));
        await this.passing(done);
      },
    };
  }

  create(name: string, colour: string): Promise<Widget> {
    return this.client.create(Widget, { metadata: { namespace: 'default', name }, spec: { colour } });
  }

  get(name: string): Promise<Widget> {
    return this.client.get(Widget, { namespace: 'default', name });
  }

  /** Lets time pass, as fast as it can, until `isSo`; fails after `limitMs` of virtual time. */
  async until(what: string, isSo: () => Promise<boolean> | boolean, limitMs = 600_000): Promise<void> {
    const deadline = this.clock.now() + limitMs;
    while (!(await isSo())) {
      if (this.clock.now() >= deadline) throw new Error(`after ${limitMs / 1000} s it was still not so that ${what}`);
      await this.clock.advance(100);
    }
  }

  /** Lets time pass until a promise settles. */
  async passing<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => (isSettled = true);
    promise.then(settle, settle);
    await this.until('it is done', () => isSettled);
    return promise;
  }

  /** Every widget is as it should be, and its status says so. */
  async converged(...names: string[]): Promise<boolean> {
    const all = await Promise.all(names.map((name) => this.get(name)));
    return all.every(
      ({ metadata, spec, status }) =>
        this.factory.parts.get(metadata.uid ?? '') === spec.colour &&
        status?.part === spec.colour &&
        status.observedGeneration === metadata.generation &&
        status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true,
    );
  }
}

function counting(transport: Transport, writes: string[]): Transport {
  return {
    request(request) {
      const isBookkeeping = /\/(leases|events)\b/.test(request.path);
      if (request.method !== 'GET' && !isBookkeeping) writes.push(`${request.method} ${request.path}`);
      return transport.request(request);
    },
    close: () => transport.close(),
  };
}

/** Numbers that look random and are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
