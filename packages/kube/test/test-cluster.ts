import type { ApiServer } from '@polder/embedded';
import { type OperatorOptions, operator, Simulation } from '@polder/embedded/simulation';
import type { Client, Product, VirtualClock } from '../src/index.ts';
import { create, installWidgets, isReady, widgetOperator } from './widget-world.ts';
import { Factory, Widget } from './widgets.ts';

/** An operator process of the test. */
export interface Operator {
  /** `POST /api/v1/…`: what it wrote so far, in order; leases and events apart. */
  readonly writes: readonly string[];
  stop(): Promise<void>;
}

export interface TestOperatorOptions extends Omit<OperatorOptions, 'stop'> {
  /** It works only while it leads. */
  readonly lease?: boolean;
  /** Runs these instead of the widgets. */
  readonly products?: readonly Product[];
}

/** A simulation for tests that act by hand: they do one thing, let time pass, and look. */
export class TestCluster {
  readonly factory = new Factory();
  readonly #simulation = new Simulation({ seed: 1, world: { actors: {} } });

  get clock(): VirtualClock {
    return this.#simulation.clock;
  }

  get server(): ApiServer {
    return this.#simulation.server;
  }

  /** A user's client. */
  get client(): Client {
    return this.#simulation.client;
  }

  async install(): Promise<this> {
    await installWidgets(this.client);
    return this;
  }

  operator({ lease = false, products, ...options }: TestOperatorOptions = {}): Operator {
    const stop = new AbortController();
    const how = { ...options, stop: stop.signal };
    const where = lease ? { namespace: 'default', name: 'widgets' } : undefined;
    const actor = products ? operator(() => products, how) : widgetOperator(this.factory, where, how);
    let done: Promise<void> = Promise.resolve();
    const process = this.#simulation.run('operator', (process) => (done = actor(process)));
    return {
      get writes() {
        return process.writes.filter(({ purpose }) => purpose === 'work').map(({ request }) => request);
      },
      stop: async () => {
        stop.abort(new Error('the test stops it'));
        await this.passing(done);
      },
    };
  }

  create(name: string, colour: string): Promise<Widget> {
    return create(name, colour)(this.client);
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
    return all.every((widget) => isReady(widget, this.factory));
  }
}
