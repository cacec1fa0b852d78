import type { Clock, Logger, Transport, TransportRequest } from '@polder/kube';
import type { ApiServer } from '../apiserver/index.ts';
import { Connection, type Purpose, purposeOf } from './connection.ts';
import { ProcessClock } from './process-clock.ts';
import type { Random } from './random.ts';
import type { Trace } from './trace.ts';

/** What a program gets to live on. It must take time, randomness and connections from here alone: then it dies with them. */
export interface Process {
  readonly name: string;
  readonly clock: Clock;
  readonly transport: Transport;
  /** 0 <= r < 1. */
  readonly random: () => number;
  /** Warnings and errors go into the trace. */
  readonly log: Logger;
  /** What reaches a program of the same process without a request; it ends with the program. */
  readonly server: Pick<ApiServer, 'follow' | 'kinds'>;
}

export interface Write {
  readonly purpose: Exclude<Purpose, 'read'>;
  /** `PATCH /api/v1/namespaces/default/configmaps/a`. */
  readonly request: string;
}

/** Where to die among the writes that do work: before the n-th leaves, or once the server has carried it out. */
export interface Death {
  readonly atWrite: number;
  readonly when: 'before' | 'after';
}

export interface ProcessOptions {
  readonly name: string;
  readonly server: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  readonly trace: Trace;
  readonly death: Death | undefined;
}

/** A process of the simulation, as its operating system sees it. */
export class SimulatedProcess implements Process {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly transport: Connection;
  readonly random: () => number;
  readonly log: Logger;
  readonly server: Process['server'];
  /** Every write that was sent, in order. */
  readonly writes: Write[] = [];
  readonly #trace: Trace;
  readonly #death: Death | undefined;
  readonly #following = new Set<() => void>();
  #isAlive = true;

  constructor({ name, server, clock, random, trace, death }: ProcessOptions) {
    this.name = name;
    this.#trace = trace;
    this.#death = death;
    this.clock = new ProcessClock(clock);
    this.random = random.fork('program').next;
    this.log = logTo(trace, name);
    this.server = {
      get kinds() {
        return server.kinds;
      },
      follow: (follower) => {
        const unfollow = server.follow(follower);
        this.#following.add(unfollow);
        return unfollow;
      },
    };
    this.transport = new Connection({
      name,
      server,
      networkClock: clock,
      processClock: this.clock,
      random: random.fork('network'),
      trace,
      onRequest: (request) => this.#sending(request),
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** At once and without a goodbye: leases run out, what was sent arrives, nobody hears the answers. */
  kill(): void {
    if (!this.#isAlive) return;
    this.#trace.add(this.name, 'is killed');
    this.end();
  }

  /** The same at the end of a run, when nobody looks any more. */
  end(): void {
    this.#isAlive = false;
    this.clock.stop();
    this.transport.cut();
    for (const unfollow of this.#following) unfollow();
  }

  #sending(request: TransportRequest): () => void {
    const purpose = purposeOf(request);
    if (purpose === 'read') return () => {};
    const isLast = purpose === 'work' && this.#workDone() + 1 === this.#death?.atWrite;
    if (isLast && this.#death?.when === 'before') this.kill();
    else this.writes.push({ purpose, request: `${request.method} ${request.path}` });
    return () => {
      if (isLast) this.kill();
    };
  }

  #workDone(): number {
    return this.writes.filter(({ purpose }) => purpose === 'work').length;
  }
}

interface Told {
  readonly error?: string;
  readonly because?: string;
}

function logTo(trace: Trace, name: string): Logger {
  const tell = (level: string) => (fields: Told, message: string) => {
    const because = fields.error ?? fields.because;
    trace.add(name, `${level}: ${message}${because === undefined ? '' : `: ${because}`}`);
  };
  const log: Logger = { debug() {}, info() {}, warn: tell('warn'), error: tell('error'), child: () => log };
  return log;
}
