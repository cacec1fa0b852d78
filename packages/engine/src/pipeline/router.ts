import type { Sink } from '../connector.ts';
import type { Message } from '../message.ts';
import type { Batching } from './batcher.ts';
import type { Writer } from './writer.ts';

export interface Destination {
  /** `kafka`, `postgresql`, … */
  readonly type: string;
  readonly sink: Sink;
  readonly batching: Batching;
}

export interface RouterOptions {
  readonly main: Writer;
  /** By the text of their condition. */
  readonly routes: ReadonlyMap<string, Destination>;
  /** Called when the first message for a route comes. */
  readonly open: (condition: string, destination: Destination) => Writer;
}

/**
 * Finds the writer for a message: that of the route which the router transformation chose, else the main one. Each route has
 * a buffer and a writer of its own, so that a slow route holds up the others only when its buffer is full, and a dead one
 * only until its retry budget is spent: then its messages go to the error sink, or, if there is none, everything waits.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #open = new Map<string, Writer>();

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** The writers of main sink and routes opened so far. */
  get writers(): readonly Writer[] {
    return [this.#options.main, ...this.#open.values()];
  }

  writerFor(message: Message): Writer {
    const { main, routes, open } = this.#options;
    if (routes.size === 0) return main;
    const condition = message.metadata['routed_condition'];
    if (typeof condition !== 'string') return main;
    const known = this.#open.get(condition);
    if (known) return known;
    const destination = routes.get(condition);
    if (!destination) return main;
    const writer = open(condition, destination);
    this.#open.set(condition, writer);
    return writer;
  }
}
