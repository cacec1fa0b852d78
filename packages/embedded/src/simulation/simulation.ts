import { Client, messageOf, VirtualClock } from '@polder/kube';
import { type ApiServer, createApiServer } from '../apiserver/index.ts';
import { SimulationFailure } from './failure.ts';
import { type Death, SimulatedProcess } from './process.ts';
import { Random } from './random.ts';
import { ObservedStorage, type State } from './state.ts';
import { Trace } from './trace.ts';
import type { Actor, Invariants, IsConverged, Scenario, World } from './world.ts';

export interface SimulationOptions<W extends World> {
  readonly seed: number;
  readonly world: W;
  readonly invariants?: Invariants<W> | undefined;
}

const LINES_SHOWN = 40;

/** A program that does this much within a second of its time does the same thing over and over. */
const MOST_PER_SECOND = 100_000;

/**
 * A world under way. One seed drives it all: the clock stands still until everything that can happen now has happened, and
 * then moves on to the next timer; latencies, randomness and faults are drawn from the seed. The same seed, world and calls
 * give the same trace, byte for byte.
 *
 * Invariants are checked at every write, in the moment it is stored: no state that anyone could read goes unseen.
 */
export class Simulation<W extends World> {
  readonly seed: number;
  readonly random: Random;
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly world: W;
  readonly state: State;
  readonly trace: Trace;
  /** Sees and does everything at once, and is never disturbed: for preparations, and for tests that act by hand. */
  readonly client: Client;
  readonly #invariants: Invariants<W>;
  readonly #processes: SimulatedProcess[] = [];
  readonly #startedBy = new Error('started').stack ?? '';
  #failed: string | undefined;
  #fired = { since: 0, count: 0 };

  constructor({ seed, world, invariants = {} }: SimulationOptions<W>) {
    this.seed = seed;
    this.world = world;
    this.#invariants = invariants;
    this.random = new Random(seed);
    this.trace = new Trace(this.clock);
    const storage = new ObservedStorage(({ resource, key, revision, text }) => {
      const isRoutine = resource === 'leases.coordination.k8s.io';
      this.trace.add('store', `${text === undefined ? 'removes' : 'keeps'} ${resource} ${key} @${revision}`, isRoutine);
      this.#checkInvariants();
    });
    this.state = storage;
    const { clock } = this;
    this.server = createApiServer({ ...world.server, clock, random: this.random.fork('server').next, storage });
    this.client = new Client({ transport: this.server.transport(), userAgent: 'observer', clock });
  }

  /** Prepares the world and starts its actors. */
  async start(deaths: Readonly<Record<string, Death>> = {}): Promise<this> {
    await this.world.prepare?.(this.client);
    for (const name of Object.keys(this.world.actors)) this.revive(name, deaths[name]);
    return this;
  }

  /** Starts a program in a process of its own. */
  run(name: string, actor: Actor, death?: Death): SimulatedProcess {
    const { clock, trace } = this;
    const life = this.#processes.filter((process) => process.name === name).length + 1;
    const random = this.random.fork(`${name} ${life}`);
    const process = new SimulatedProcess({ name, server: this.server, clock, random, trace, death });
    this.#processes.push(process);
    trace.add(name, life === 1 ? 'starts' : `starts for the ${life}. time`);
    actor(process).catch((error: unknown) => {
      if (process.isAlive) this.#fail(`${name} failed: ${messageOf(error)}`);
    });
    return process;
  }

  /** Starts an actor of the world, unless it runs. */
  revive(name: string, death?: Death): void {
    const actor = this.world.actors[name];
    if (!actor) throw new Error(`the world has no actor ${name}; it has ${Object.keys(this.world.actors).join(', ')}`);
    if (this.living(name) === undefined) this.run(name, actor, death);
  }

  /** The process in which an actor runs now. */
  living(name: string): SimulatedProcess | undefined {
    return this.#processes.find((process) => process.name === name && process.isAlive);
  }

  /** All that ever ran, in the order of their starts. */
  get processes(): readonly SimulatedProcess[] {
    return this.#processes;
  }

  /** Lets a user begin to carry out a scenario; returns whether all of it is done. */
  play(scenario: Scenario, pauseMs: (random: Random) => number): () => boolean {
    let isDone = false;
    const random = this.random.fork('pauses of the user');
    this.run('user', async ({ clock, transport, log }) => {
      const client = new Client({ transport, userAgent: 'user', clock, log });
      for (const step of scenario) {
        await new Promise<void>((resolve) => clock.after(pauseMs(random), resolve));
        await step(client);
      }
      isDone = true;
    });
    return () => isDone;
  }

  /** Lets time pass until it is so. Fails when an invariant or an actor does, and when `limitMs` have passed. */
  async until(what: string, isSo: IsConverged<W>, limitMs: number): Promise<void> {
    const isReached = await this.clock.runUntil(() => this.#isOver() || isSo(this.state, this.world), limitMs);
    if (this.#failed === undefined && !isReached)
      this.#fail(`after ${limitMs / 1000} s it is still not so that ${what}`);
    this.#throwIfFailed();
  }

  /** Lets so much time pass. Fails as `until` does. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    await this.clock.runUntil(() => this.#isOver(), ms);
    this.#throwIfFailed();
    await this.clock.advance(end - this.clock.monotonic());
  }

  /** Fails with the seed, the time and the end of the trace. */
  fail(because: string): never {
    this.#fail(because);
    throw this.#failure(because);
  }

  /** Ends everything, without a goodbye. */
  end(): void {
    for (const process of this.#processes) process.end();
    this.server.close();
  }

  /** Asked after every timer. */
  #isOver(): boolean {
    const now = this.clock.monotonic();
    if (now - this.#fired.since >= 1_000) this.#fired = { since: now, count: 0 };
    if (++this.#fired.count > MOST_PER_SECOND) this.#fail('something runs in circles, and time stands still meanwhile');
    return this.#failed !== undefined;
  }

  #checkInvariants(): void {
    for (const [name, holds] of Object.entries(this.#invariants)) {
      try {
        holds(this.state, this.world);
      } catch (error) {
        this.#fail(`"${name}" does not hold: ${messageOf(error)}`);
      }
    }
  }

  /** The first failure counts: what follows it may well be its consequence. */
  #fail(because: string): void {
    if (this.#failed !== undefined) return;
    this.#failed = because;
    this.trace.add('simulation', `fails: ${because.split('\n')[0]}`);
  }

  #throwIfFailed(): void {
    if (this.#failed !== undefined) throw this.#failure(this.#failed);
  }

  #failure(because: string): SimulationFailure {
    const trace = this.trace.last(LINES_SHOWN);
    return new SimulationFailure({
      seed: this.seed,
      atMs: this.clock.monotonic(),
      because,
      trace,
      startedBy: this.#startedBy,
    });
  }
}
