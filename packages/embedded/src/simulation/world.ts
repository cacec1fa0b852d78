import { type Client, Manager, type ManagerOptions, type Product } from '@polder/kube';
import type { ApiServerOptions } from '../apiserver/index.ts';
import type { Process } from './process.ts';
import type { State } from './state.ts';

/**
 * What there is beside the API server. Made anew for every run, so that nothing of one is left in the next; what else it holds
 * (the outside systems that its actors manage) is handed to invariants and conditions.
 */
export interface World {
  /** Programs by name. Each is started with a process of its own and, after that was killed, again with another one. */
  readonly actors: Readonly<Record<string, Actor>>;
  /** Where webhooks are and what logs pods have. Calls must stay in this process: sockets know no virtual time. */
  readonly server?: Pick<ApiServerOptions, 'podLogs' | 'resolveService' | 'postToWebhook' | 'historyLimit'>;
  /** What is there before anything starts: custom kinds, nodes. */
  prepare?(client: Client): Promise<void>;
}

/** A program. It may run for ever; if it fails, so does the simulation. */
export type Actor = (process: Process) => Promise<void>;

/** What users do: one call after the other, with pauses drawn from the seed. */
export type Scenario = readonly ((client: Client) => Promise<unknown>)[];

/** Something that must hold in every state that is ever stored. Throws, and says what it saw, if it does not. */
export type Invariant<W extends World> = (state: State, world: W) => void;
export type Invariants<W extends World> = Readonly<Record<string, Invariant<W>>>;

/** Whether everything is as it was asked for. */
export type IsConverged<W extends World> = (state: State, world: W) => boolean;

/** A program that runs products, as an operator does. They are made for each start: what they remember dies with the process. */
export function operator(products: (process: Process) => readonly Product[], options: OperatorOptions = {}): Actor {
  const { stop = new AbortController().signal, ...rest } = options;
  return (process) => {
    const { name, transport, clock, random, log } = process;
    const given = { transport, userAgent: name, host: name, clock, random, products: products(process) };
    return new Manager({ log, freeze: true, ...rest, ...given }).run(stop);
  };
}

export interface OperatorOptions extends Partial<Pick<ManagerOptions, 'namespaces' | 'log' | 'on' | 'graceMs'>> {
  /** Asks it to stop in an orderly way. */
  readonly stop?: AbortSignal;
}
